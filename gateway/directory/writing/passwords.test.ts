import { describe, expect, it } from 'vitest'
import { type DeriveKey, Passwords } from './passwords.ts'

/** Computations that the test ends one by one. */
class Bench {
  readonly started: string[] = []
  readonly #running: PromiseWithResolvers<Buffer>[] = []

  readonly derive: DeriveKey = (password) => {
    this.started.push(password)
    const run = Promise.withResolvers<Buffer>()
    this.#running.push(run)
    return run.promise
  }

  async finish(error?: Error): Promise<void> {
    const run = this.#running.shift()
    if (error) run?.reject(error)
    else run?.resolve(Buffer.alloc(32))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('passwords', () => {
  it('are known again by their hash, and others are not', async () => {
    const passwords = new Passwords()
    const hash = await passwords.hash('wonder')
    expect(await passwords.verify('wonder', hash)).toBe(true)
    expect(await passwords.verify('wander', hash)).toBe(false)
    expect(await passwords.verify('wonder', 'bcrypt$1')).toBe(false)
  })

  it('are computed two at a time, in the order in which they came, past failures too', async () => {
    const bench = new Bench()
    const passwords = new Passwords(bench.derive)
    const hash = `scrypt$2$1$1$c2FsdA$${Buffer.alloc(32).toString('base64url')}`
    const all = [
      passwords.hash('a'),
      passwords.verify('b', hash),
      passwords.hash('c'),
      passwords.verify('d', hash),
      passwords.hash('e'),
    ]
    const settled = Promise.allSettled(all)
    expect(bench.started).toEqual(['a', 'b'])
    await bench.finish()
    expect(bench.started).toEqual(['a', 'b', 'c'])
    await bench.finish(new Error('no memory'))
    expect(bench.started).toEqual(['a', 'b', 'c', 'd'])
    for (let i = 0; i < 3; i++) await bench.finish()
    expect((await settled).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ])
    // Every turn was given back.
    const late = [passwords.hash('f'), passwords.hash('g'), passwords.hash('h')]
    expect(bench.started.slice(5)).toEqual(['f', 'g'])
    for (let i = 0; i < 3; i++) await bench.finish()
    await Promise.all(late)
  })
})
