import { vi } from 'vitest'

/** How long `vi.waitFor` waits at most where a test says nothing else, in ms: by itself a second, which a busy machine may take for anything. */
const patienceMs = 20_000

const { waitFor } = vi

/** Files share a process: it is done once. */
if (waitFor.name !== 'waitPatiently')
  vi.waitFor = function waitPatiently(callback, options = {}) {
    return waitFor(callback, typeof options === 'number' ? options : { timeout: patienceMs, ...options })
  }
