import { defineConfig } from 'vite'

/** The page's Host header is kept: the server accepts sign-ins only from its own page. */
const gateway = { target: 'http://localhost:8080', changeOrigin: false }

/**
 * Builds `dist/`: plain files without inline scripts or styles, for a strict content security policy.
 * With `--mode worker` it adds the service worker: one classic script at the root, since not every browser
 * supports modules there.
 */
export default defineConfig(({ mode }) => ({
  base: '/',
  // Another version of Preact comes with the docs site; the page has one copy.
  resolve: { dedupe: ['preact', '@preact/signals', '@preact/signals-core'] },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    ...(mode === 'worker' && {
      emptyOutDir: false,
      copyPublicDir: false,
      rollupOptions: { input: 'src/worker.ts', output: { format: 'iife', entryFileNames: 'worker.js' } },
    }),
  },
  server: { proxy: { '/api': gateway, '/subscriber': gateway, '/config.json': gateway } },
}))
