import './style.css';
import { App } from './app';
import { Film, parse_size } from './film';
import { install_hooks } from './hooks';

const query = new URLSearchParams(window.location.search);
const film_size = parse_size(query.get('film'));
if (film_size) window.film = new Film(query, film_size);
else install_hooks(new App(query));
