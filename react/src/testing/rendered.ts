import { act, createElement, type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { onTestFinished } from 'vitest'

/** Uses what it is given, and shows what that gives. */
export const Probe = ({ use }: { use: () => string | undefined }): ReactNode => use()

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

/** A component that only uses a hook, in strict mode, where every effect runs twice; unmounted with the test. */
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
    /** What the hook gave last. */
    get value(): Value {
      return values.at(-1) as Value
    },
    /** How often the component was rendered. */
    get count(): number {
      return values.length
    },
  }
}
