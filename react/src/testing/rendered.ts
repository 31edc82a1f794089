import { act, createElement, type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { onTestFinished } from 'vitest'

/** Calls a hook and renders its result. */
export const Probe = ({ use }: { use: () => string | undefined }): ReactNode => use()

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

/**
 * Renders a component that only calls a hook, in strict mode, which runs every effect twice. Unmounted after
 * the test.
 */
export const rendered = async <Props, Value>(use: (props: Props) => Value, first: Props) => {
  const values: Value[] = []
  const root = createRoot(document.createElement('div'))
  const render = (props: Props) => {
    const element = createElement(Probe, {
      use: () => {
        values.push(use(props))
        return undefined
      },
    })
    return act(async () => root.render(createElement(StrictMode, null, element)))
  }
  await render(first)
  const unmount = () => act(async () => root.unmount())
  onTestFinished(unmount)
  return {
    render,
    unmount,
    /** Last result of the hook. */
    get value(): Value {
      return values.at(-1) as Value
    },
    /** Number of renders. */
    get count(): number {
      return values.length
    },
  }
}
