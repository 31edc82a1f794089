import { defineConfig } from 'vite'

/** The page's Host header is kept: the server accepts sign-ins only from its own page. */
const gateway = { target: 'http://localhost:8080', changeOrigin: false }

/**
 * Modules that are loaded together, with all that they import: the sign-in, and the phone after it. Fewer and
 * larger files compress better.
 */
const groups = [
  {
    name: 'sign-in',
    test: /src\/(views\/sign-in|api|shared-tabs|theme|push\/kept)\.tsx?$|preload-helper/,
    priority: 2,
  },
  { name: 'phone', test: /src\/opening\.tsx$/, priority: 1 },
]

/**
 * Builds `dist/`: plain files without inline scripts or styles, for a strict content security policy.
 * With `--mode worker` it adds the service worker: one classic script at the root, since not every browser
 * supports modules there.
 */
export default defineConfig(({ mode }) => ({
  base: '/',
  // Another version of Preact comes with the docs site; the page has one copy.
  resolve: { dedupe: ['preact'] },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    ...(mode === 'worker'
      ? {
          emptyOutDir: false,
          copyPublicDir: false,
          rolldownOptions: {
            input: 'src/worker.ts',
            output: { format: 'iife', entryFileNames: 'worker.js' },
          },
        }
      : { rolldownOptions: { output: { codeSplitting: { groups } } } }),
  },
  server: { proxy: { '/api': gateway, '/subscriber': gateway, '/config.json': gateway } },
}))
