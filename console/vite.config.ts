import { defineConfig } from 'vite'

/** The Host of the page is kept: the server takes sign-ins from its own page alone. */
const gateway = { target: 'http://localhost:8080', changeOrigin: false }

/**
 * Builds `dist/`: plain files with no inline script or style, so that the page works under a strict content security policy. With `--mode worker`
 * the service worker beside them: one classic script at the root, as not every browser takes modules there.
 */
export default defineConfig(({ mode }) => ({
  base: '/',
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
