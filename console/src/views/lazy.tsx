import type { ComponentType } from 'preact'
import { useEffect, useReducer } from 'preact/hooks'
import { texts } from '../texts/language.ts'
import { usePage } from './page.ts'

/** Properties of a view. */
type PropsOf<View> = View extends ComponentType<infer Props> ? Props : never

/**
 * Makes a view whose code is loaded when it is first shown. `name`: the view in its module. If the load
 * fails, for example without a connection, the user is warned, and the next show tries again. `Waiting` is
 * shown until then.
 */
export const lazy = <Module extends object, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
  Waiting: ComponentType = () => null,
): ComponentType<PropsOf<Module[Name]>> => {
  let View: ComponentType<PropsOf<Module[Name]>> | undefined
  return (props) => {
    const { phone } = usePage()
    const [, draw] = useReducer((count: number, _: undefined) => count + 1, 0)
    useEffect(() => {
      if (View) return
      void load().then(
        (module) => {
          View = module[name] as ComponentType<PropsOf<Module[Name]>>
          draw(undefined)
        },
        () => phone.warn(() => texts.value.notLoaded),
      )
    }, [])
    return View ? <View {...props} /> : <Waiting />
  }
}
