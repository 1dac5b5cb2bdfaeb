import { render } from 'preact';
import { rememberedAppearance } from '#kit/appearance.ts';
import { App } from './app.tsx';

rememberedAppearance();
const page = document.getElementById('page');
if (page) render(<App />, page);
