import { defineConfig } from 'vitest/config'

/** Tests of this package alone: `npm test` here. The repository's unit tests run them too. */
export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['**/node_modules/**', 'dist/**'],
    // Files share the processes: no module keeps state, and starting a process takes half of the time.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
