import { defineConfig } from 'vite'

/** Builds `dist/index.js` (ES module) with all of `@trunkline/client`; only React comes from the page. */
export default defineConfig({
  build: {
    target: 'es2022',
    sourcemap: true,
    lib: { entry: 'src/index.ts', formats: ['es'], fileName: () => 'index.js' },
    // One file, also with parts that the softphone loads on demand.
    rolldownOptions: { external: ['react'], output: { codeSplitting: false } },
  },
})
