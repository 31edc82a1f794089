import { vi } from 'vitest'

/**
 * Default time-out of `vi.waitFor`, in ms. Vitest's own default of one second is too short for a busy
 * machine.
 */
const patienceMs = 20_000

const { waitFor } = vi

/** Applied once, because several test files share a process. */
if (waitFor.name !== 'waitPatiently')
  vi.waitFor = function waitPatiently(callback, options = {}) {
    return waitFor(callback, typeof options === 'number' ? options : { timeout: patienceMs, ...options })
  }
