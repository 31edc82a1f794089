import { describe, expect, it } from 'vitest'
import { whenLeft } from './page-life.ts'

const shown = (persisted: boolean): Event => Object.assign(new Event('pageshow'), { persisted })

const setUp = () => {
  const page = new EventTarget()
  const events: string[] = []
  const over = new AbortController()
  whenLeft(
    page,
    over.signal,
    () => events.push('left'),
    () => events.push('back'),
  )
  return { page, events, over }
}

describe('a page that is closed', () => {
  it('reports it once, and its return from the back/forward cache', () => {
    const { page, events } = setUp()
    page.dispatchEvent(shown(false))
    page.dispatchEvent(shown(true))
    expect(events).toEqual([])
    page.dispatchEvent(new Event('pagehide'))
    page.dispatchEvent(shown(false))
    expect(events).toEqual(['left'])
    page.dispatchEvent(shown(true))
    expect(events).toEqual(['left', 'back'])
    page.dispatchEvent(new Event('pagehide'))
    page.dispatchEvent(shown(true))
    expect(events).toEqual(['left', 'back'])
  })

  it('reports its return even if closing ended its work', () => {
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

  it('reports nothing after the sign-out', () => {
    const { page, events, over } = setUp()
    over.abort()
    page.dispatchEvent(new Event('pagehide'))
    page.dispatchEvent(shown(true))
    expect(events).toEqual([])
  })
})
