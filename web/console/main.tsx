import '@mantine/core/styles.css';
import '@mantine/dates/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import './style.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { consoleClient } from './api/client.ts';
import { consoleRouter } from './router.tsx';
import { useColorScheme } from './shell/scheme.ts';
import { colorVariables, theme } from './theme.ts';

const nonce = document.querySelector('meta[name="style-nonce"]')?.getAttribute('content') ?? '';
// react-remove-scroll, which Mantine uses for dialogs, reads the nonce for its style element from this global variable.
Reflect.set(globalThis, '__webpack_nonce__', nonce);

const client = consoleClient();
const router = consoleRouter(client);

function Console() {
  const scheme = useColorScheme();
  return (
    <MantineProvider theme={theme} cssVariablesResolver={colorVariables} getStyleNonce={() => nonce} forceColorScheme={scheme}>
      <QueryClientProvider client={client}>
        <Notifications position="bottom-center" autoClose={8000} />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}

const container = document.getElementById('console');
if (container)
  createRoot(container).render(
    <StrictMode>
      <Console />
    </StrictMode>,
  );
