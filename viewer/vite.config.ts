import { defineConfig } from 'vitest/config';

// `npm run dev` serves the page from its sources and passes stream and thumbnails on to a running `rotule view --port 8080`.
const program = 'http://127.0.0.1:8080';

export default defineConfig({
  base: './',
  build: { target: 'es2022', assetsInlineLimit: 8192, chunkSizeWarningLimit: 1500 },
  server: {
    proxy: {
      '/stream': { target: program, ws: true, changeOrigin: true, rewriteWsOrigin: true },
      '/thumbnails': { target: program, changeOrigin: true },
    },
  },
  test: { include: ['tests/unit/*.test.ts'] },
});
