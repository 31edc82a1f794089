import { describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { Attempts, networkKey } from './attempts.ts'

describe('attempts', () => {
  it('forget old windows, and the oldest when there are too many keys', () => {
    const clock = new FakeClock()
    const attempts = new Attempts(clock, { attempts: 1, windowMs: 1000, keys: 3 })
    for (const key of ['a', 'b', 'c', 'd']) expect(attempts.take(key)).toBe(0)
    expect(attempts.size).toBe(3)
    expect(attempts.take('d')).toBe(1000)
    clock.advance(1000)
    expect(attempts.take('e')).toBe(0)
    expect(attempts.size).toBe(1)
    attempts.forget('e')
    expect(attempts.take('e')).toBe(0)
  })
})

describe('a network address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:0:1:aaaa::1', '2001:db8:0:1::/64'],
    ['2001:0DB8::1:0:0:0:2', '2001:db8:0:1::/64'],
    ['2001:db8:0:1:1:2:3:4', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (address, key) => {
    expect(networkKey(address)).toBe(key)
  })
})
