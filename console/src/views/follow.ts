import { useLayoutEffect, useReducer } from 'preact/hooks'
import type { Cell } from '../cell.ts'

/** Draws the view again, with all that it contains, after each change of a cell. */
export const useFollowed = (cell: Pick<Cell<unknown>, 'follow'>): void => {
  const [, draw] = useReducer((count: number, _: undefined) => count + 1, 0)
  useLayoutEffect(() => {
    const stop = cell.follow(() => draw(undefined))
    // The cell may have changed since this view was drawn.
    draw(undefined)
    return stop
  }, [cell])
}
