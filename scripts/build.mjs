// Does all the set-up that a start would do, so that the start itself writes nothing but data.
import { build, install } from './setup.mjs';

install(false);
build();
