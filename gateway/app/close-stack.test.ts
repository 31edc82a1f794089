import { describe, expect, it } from 'vitest'
import { allOrNone, CloseStack } from './close-stack.ts'

const setUp = () => {
  const log: unknown[] = []
  const closed: string[] = []
  const closing = new CloseStack({ error: (facts: unknown) => log.push(facts) })
  return { log, closed, closing }
}

describe('what was opened', () => {
  it('is closed in reverse, one part after the other', async () => {
    const { closed, closing } = setUp()
    const slow = Promise.withResolvers<void>()
    expect(closing.add('store', 'a store', (part) => closed.push(part))).toBe('a store')
    closing.add('edge', 'an edge', (part) => slow.promise.then(() => closed.push(part)))
    const done = closing.close()
    await Promise.resolve()
    expect(closed).toEqual([])
    slow.resolve()
    await done
    expect(closed).toEqual(['an edge', 'a store'])
  })

  it('is closed whatever happens to another part, and that is logged', async () => {
    const { log, closed, closing } = setUp()
    closing.add('store', 0, () => closed.push('store'))
    closing.add('rejects', 0, () => Promise.reject(new Error('no')))
    closing.add('throws', 0, () => {
      throw new Error('never')
    })
    await closing.close()
    expect(closed).toEqual(['store'])
    expect(log).toMatchObject([{ part: 'throws' }, { part: 'rejects' }])
  })

  it('closes once, and each caller of close waits for the end', async () => {
    const { closed, closing } = setUp()
    const slow = Promise.withResolvers<void>()
    closing.add('edge', 0, () => slow.promise.then(() => closed.push('edge')))
    const both = [closing.close(), closing.close()]
    let over = false
    const second = both[1]?.then(() => {
      over = true
    })
    for (let i = 0; i < 10; i++) await Promise.resolve()
    expect(over).toBe(false)
    slow.resolve()
    await second
    expect(closed).toEqual(['edge'])
  })
})

describe('all or none', () => {
  it('gives what all promises gave, in their order', async () => {
    expect(await allOrNone([Promise.resolve(1), Promise.resolve('two')])).toEqual([1, 'two'])
  })

  it('rejects with what went wrong first in the list, and only when nothing is under way any more', async () => {
    const slow = Promise.withResolvers<number>()
    let reason: unknown
    const done = allOrNone([slow.promise, Promise.reject(new Error('the port is taken'))]).catch((error) => {
      reason = error
    })
    for (let i = 0; i < 10; i++) await Promise.resolve()
    expect(reason).toBeUndefined()
    slow.resolve(1)
    await done
    expect(reason).toMatchObject({ message: 'the port is taken' })
  })
})
