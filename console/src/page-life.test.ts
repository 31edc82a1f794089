import { describe, expect, it } from 'vitest'
import { whenLeft } from './page-life.ts'

const shown = (persisted: boolean): Event => Object.assign(new Event('pageshow'), { persisted })

const setUp = () => {
  const page = new EventTarget()
  const told: string[] = []
  const over = new AbortController()
  whenLeft(
    page,
    over.signal,
    () => told.push('left'),
    () => told.push('back'),
  )
  return { page, told, over }
}

describe('a page that is left', () => {
  it('is told of it once, and of its return from the back/forward cache', () => {
    const { page, told } = setUp()
    page.dispatchEvent(shown(false))
    page.dispatchEvent(shown(true))
    expect(told).toEqual([])
    page.dispatchEvent(new Event('pagehide'))
    page.dispatchEvent(shown(false))
    expect(told).toEqual(['left'])
    page.dispatchEvent(shown(true))
    expect(told).toEqual(['left', 'back'])
    page.dispatchEvent(new Event('pagehide'))
    page.dispatchEvent(shown(true))
    expect(told).toEqual(['left', 'back'])
  })

  it('comes back also when leaving ends what was going on', () => {
    const page = new EventTarget()
    const over = new AbortController()
    let back = 0
    whenLeft(
      page,
      over.signal,
      () => over.abort(),
      () => back++,
    )
    page.dispatchEvent(new Event('pagehide'))
    page.dispatchEvent(shown(true))
    expect(back).toBe(1)
  })

  it('is not told after the person has signed out', () => {
    const { page, told, over } = setUp()
    over.abort()
    page.dispatchEvent(new Event('pagehide'))
    page.dispatchEvent(shown(true))
    expect(told).toEqual([])
  })
})
