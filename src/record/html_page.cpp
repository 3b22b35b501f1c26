#include "record/html_page.h"

#include <fmt/format.h>

namespace rotule {

namespace {

constexpr std::string_view page_style = R"(
:root{color-scheme:light dark;--paper:#f6f8fa;--card:#fff;--text:#24292f;--quiet:#59636e;--edge:#d5dae0;--good:#1f7a3d;--fair:#8a6400;--bad:#b42318;--bar:#1f6fb4}
@media (prefers-color-scheme:dark){:root{--paper:#0d1116;--card:#14181d;--text:#e3e8ee;--quiet:#9aa4af;--edge:#2b323b;--good:#5cc983;--fair:#e0b43c;--bad:#ff8d7a;--bar:#62aef0}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:860px;margin:0 auto;padding:24px 16px 64px}
h1{font-size:1.7rem;margin:.2em 0}h2{font-size:1.2rem;margin:1.8em 0 .5em}
p{margin:.5em 0}.quiet{color:var(--quiet)}footer{margin-top:3em;font-size:.85rem;color:var(--quiet)}
figure.plot{position:relative;margin:16px 0;background:var(--card);border:1px solid var(--edge);border-radius:8px;overflow:hidden}
figure.plot svg{display:block;width:100%;height:auto;touch-action:pan-y}
figure.plot svg:focus-visible{outline:2px solid var(--bar);outline-offset:-2px}
figure.plot .cursor{stroke:var(--quiet);stroke-dasharray:3 3}
figure.plot .spot{stroke:var(--card);stroke-width:1.5}
.reading{position:absolute;pointer-events:none;background:var(--card);border:1px solid var(--edge);border-radius:6px;padding:6px 9px;font-size:13px;line-height:1.35;box-shadow:0 2px 8px #0003;white-space:nowrap;font-variant-numeric:tabular-nums}
.reading b{font-weight:600}.reading i{display:inline-block;width:9px;height:9px;border-radius:50%;margin-right:6px}
table{border-collapse:collapse;width:100%;background:var(--card);border:1px solid var(--edge);border-radius:8px;overflow:hidden;font-variant-numeric:tabular-nums}
td,th{text-align:left;padding:7px 12px;border-top:1px solid var(--edge);vertical-align:top}tr:first-child>*{border-top:0}
th{font-weight:600;width:30%}.findings th{width:17%}td.number{text-align:right;white-space:nowrap}.numbers th{width:auto}.numbers th.number{text-align:right;width:17%}
.good{color:var(--good)}.fair{color:var(--fair)}.bad{color:var(--bad)}.good,.fair,.bad{font-weight:600}
.bar{height:10px;border-radius:5px;background:var(--bar);min-width:1px}
ul.plain{list-style:none;padding:0;margin:0}ul.plain li{background:var(--card);border:1px solid var(--edge);border-left:4px solid var(--fair);border-radius:6px;padding:8px 12px;margin:8px 0}
details{margin:12px 0}summary{cursor:pointer;color:var(--quiet)}pre{background:var(--card);border:1px solid var(--edge);border-radius:8px;padding:12px;overflow:auto;font-size:13px;max-height:480px}
@media (max-width:600px){.findings tr{display:block;padding:8px 0;border-top:1px solid var(--edge)}.findings tr:first-child{border-top:0}.findings th,.findings td,.findings td.number{display:block;width:auto;text-align:left;border:0;padding:1px 12px;white-space:normal}}
@media print{body{background:#fff}figure.plot{break-inside:avoid}}
)";

constexpr std::string_view page_script = R"(
for (const figure of document.querySelectorAll('figure.plot')) {
  const svg = figure.querySelector('svg'), data = JSON.parse(figure.querySelector('script').textContent);
  const make = (tag, kind, parent) => { const e = document.createElementNS('http://www.w3.org/2000/svg', tag); e.setAttribute('class', kind); parent.append(e); return e; };
  const pixel = (a, v) => a.from + ((a.log ? Math.log10(v) : v) - a.low) / (a.high - a.low) * (a.to - a.from);
  const layer = make('g', 'layer', svg), cursor = make('path', 'cursor', layer);
  const spots = data.series.map((s, k) => { const c = make('circle', 'spot d' + k % 8, layer); c.setAttribute('r', 4); return c; });
  const reading = document.createElement('div');
  reading.className = 'reading';
  figure.append(reading);
  const show = on => { layer.style.display = reading.style.display = on ? '' : 'none'; };
  const digits = v => v === 0 ? '0' : Math.abs(v) >= 1e-3 && Math.abs(v) < 1e6 ? String(Number(v.toPrecision(6))) : v.toExponential(3);
  let at = data.x.from;
  const move = X => {
    at = Math.min(Math.max(X, data.x.from), data.x.to);
    let lines = '', where = at, best = Infinity;
    data.series.forEach((s, k) => {
      let near = -1, distance = Infinity;
      for (let i = 0; i < s.x.length; ++i) { const d = Math.abs(pixel(data.x, s.x[i]) - at); if (d < distance) { distance = d; near = i; } }
      spots[k].style.display = near < 0 ? 'none' : '';
      if (near < 0) return;
      if (distance < best) { best = distance; where = s.x[near]; }
      spots[k].setAttribute('cx', pixel(data.x, s.x[near]));
      spots[k].setAttribute('cy', pixel(data.y, s.y[near]));
      if (k > 15) return;
      const row = document.createElement('div'), name = document.createElement('span'), value = document.createElement('b');
      name.textContent = s.name + '  ';
      value.textContent = digits(s.y[near]);
      const dot = document.createElement('i');
      dot.style.background = getComputedStyle(spots[k]).fill;
      row.append(dot, name, value);
      lines += row.outerHTML;
    });
    const head = document.createElement('div');
    head.textContent = data.x.label + ': ' + digits(where);
    reading.innerHTML = head.outerHTML + lines;
    const x = pixel(data.x, where), scale = svg.clientWidth / svg.viewBox.baseVal.width;
    cursor.setAttribute('d', `M${x} ${data.y.from}V${data.y.to}`);
    show(true);
    const left = x * scale + 14;
    reading.style.left = Math.max(0, left + reading.offsetWidth > figure.clientWidth ? left - 28 - reading.offsetWidth : left) + 'px';
    reading.style.top = data.y.to * scale + 6 + 'px';
  };
  svg.setAttribute('tabindex', 0);
  svg.addEventListener('pointermove', e => { const m = svg.getScreenCTM(); move((e.clientX - m.e) / m.a); });
  svg.addEventListener('pointerleave', () => show(false));
  svg.addEventListener('blur', () => show(false));
  svg.addEventListener('keydown', e => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -50, PageDown: 50 }[e.key];
    if (by) { e.preventDefault(); move(at + by); }
    if (e.key === 'Escape') show(false);
  });
  show(false);
}
)";

}  // namespace

std::string script_safe(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";  // in JSON it can only be inside a text
    else
      out += c;
  }
  return out;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n"
      "<script>{}</script>\n</body>\n</html>\n",
      markup_escaped(title), page_style, body, page_script);
}

}  // namespace rotule
