import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { Skeleton } from './parts.tsx'

/**
 * Makes a view that is loaded when it is first shown. If the load fails, for example without a connection,
 * the next show tries again.
 */
export const lazy = (load: () => Promise<ComponentType>): ComponentType => {
  const loaded = signal<ComponentType | undefined>(undefined)
  return () => {
    useEffect(() => {
      if (loaded.peek()) return
      void load().then(
        (view) => {
          loaded.value = view
        },
        () => {},
      )
    }, [])
    const View = loaded.value
    return View ? <View /> : <Skeleton />
  }
}
