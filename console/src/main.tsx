// Entry of the console: one page for all screens, for signed-in people.
import './style/tokens.css';
import './style/base.css';
import { focusManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { restoreFragment } from './api/request.js';
import { App } from './app.js';
import { readBoot } from './boot.js';
import { keepFocus } from './shell/keep-focus.js';
import { keepOnlyOf } from './shell/storage.js';
import { applyTheme } from './shell/theme.js';

const boot = readBoot();
keepOnlyOf(boot.personId);
applyTheme();
restoreFragment();
keepFocus();

// A failed query is shown with its cause and a button: repeating it unasked would hide both.
const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Without a connection a query fails at once, instead of loading until there is one.
      networkMode: 'always',
      retry: false,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      staleTime: Number.POSITIVE_INFINITY,
    },
  },
});

// The library knows of tabs that become visible. Two windows side by side are both visible.
addEventListener('focus', () => focusManager.onFocus());

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App boot={boot} />
    </QueryClientProvider>
  </StrictMode>,
);
