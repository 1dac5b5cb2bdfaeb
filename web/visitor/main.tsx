import { render } from 'preact';
import { rememberedAppearance } from '#kit/appearance.ts';
import { App } from './app.tsx';
import { speechFor } from './translations/use-translation.ts';

rememberedAppearance();
void speechFor(''); // the words are mostly the browser's: they come while the link is asked
const page = document.getElementById('page');
if (page) render(<App />, page);
