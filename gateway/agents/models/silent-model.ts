import type { Model } from './model.ts'

/** Model of an agent that the handler answers: each of its answers is empty. */
export const silentModel: Model = {
  name: 'none',
  maySayNothing: true,
  answer: (_, listener) => {
    let isCancelled = false
    queueMicrotask(() => {
      if (!isCancelled) listener.onEnd('completed', [])
    })
    return {
      cancel: () => {
        isCancelled = true
      },
    }
  },
  close: async () => {},
}
