import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import { type CallControl, CallEnded } from '../../../handlers/verbs.ts'
import type { ScopableControl } from '../call/scopable-control.ts'

/** Call for tests whose verbs can be limited to a scope. */
export class FakeScopableCall extends FakeCall implements ScopableControl {
  scoped(scope: AbortSignal): CallControl {
    const signal = AbortSignal.any([this.signal, scope])
    const check = () => {
      if (scope.aborted) throw new CallEnded()
    }
    return new Proxy<CallControl>(this, {
      get: (call, name) => {
        if (name === 'signal') return signal
        const value: unknown = Reflect.get(call, name, call)
        if (typeof value !== 'function') return value
        if (scope.aborted) return async () => check()
        return (...args: unknown[]) => {
          const result: unknown = value.apply(call, args)
          return result instanceof Promise ? result.finally(check) : result
        }
      },
    })
  }
}
