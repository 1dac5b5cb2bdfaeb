import { render } from 'preact';
import { applySavedAppearance } from '#kit/appearance.ts';
import { App } from './app.tsx';
import { takeMailedCode } from './sign-in/mailed-code.ts';
import { takeProviderOutcome } from './sign-in/provider-return.ts';
import { loadTranslation } from './translations/use-translation.ts';

applySavedAppearance();
takeMailedCode();
takeProviderOutcome();
void loadTranslation(''); // loads the browser's language, which most visits need, during the request for the visit
const page = document.getElementById('page');
if (page) render(<App />, page);
