// Installs and builds like `npm start`, so that a later start writes only data.
import { build, install } from './setup.mjs';

install(false);
build();
