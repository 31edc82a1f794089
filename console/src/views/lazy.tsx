import type { ComponentType } from 'preact'
import { useEffect, useReducer } from 'preact/hooks'
import { texts } from '../texts/language.ts'
import { usePage } from './page.ts'

/**
 * Makes a view whose code is loaded when it is first shown. If the load fails, for example without a
 * connection, the user is warned, and the next show tries again. `Waiting` is shown until then.
 */
export const lazy = <Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Waiting: ComponentType = () => null,
): ComponentType<Props> => {
  let View: ComponentType<Props> | undefined
  return (props) => {
    const { phone } = usePage()
    const [, draw] = useReducer((count: number, _: undefined) => count + 1, 0)
    useEffect(() => {
      if (View) return
      void load().then(
        (view) => {
          View = view
          draw(undefined)
        },
        () => phone.warn(() => texts.value.notLoaded),
      )
    }, [])
    return View ? <View {...props} /> : <Waiting />
  }
}
