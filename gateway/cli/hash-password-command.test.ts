import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isPasswordHash } from '../../config/password-hash.ts'
import { Passwords } from '../directory/writing/passwords.ts'
import { printPasswordHash } from './hash-password-command.ts'

let out: string
let err: string
beforeEach(() => {
  out = ''
  err = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += text
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
})

const piped = (text: string): Promise<number> =>
  printPasswordHash({ terminal: undefined, input: Readable.from([text]) })

const typed = (...answers: string[]): Promise<number> =>
  printPasswordHash({
    terminal: { askSecret: async () => answers.shift() ?? '' },
    input: Readable.from([]),
  })

it.each(['looking-glass\n', 'looking-glass\r\n', 'looking-glass', 'looking-glass\nsecond line'])(
  'prints a hash of the first line of %j, which the configuration accepts',
  async (text) => {
    expect(await piped(text)).toBe(0)
    const hash = out.trim()
    expect(isPasswordHash(hash)).toBe(true)
    expect(await new Passwords().verify('looking-glass', hash)).toBe(true)
  },
)

describe('of a terminal', () => {
  it('is the hash of what was typed twice', async () => {
    expect(await typed('looking-glass', 'looking-glass')).toBe(0)
    expect(await new Passwords().verify('looking-glass', out.trim())).toBe(true)
  })

  it('is none of two different passwords', async () => {
    expect(await typed('looking-glass', 'looking-glas')).toBe(2)
    expect([out, err]).toEqual(['', 'trunkline: The two passwords differ.\n'])
  })
})

it.each(['short', '', '\nlooking-glass'])('%j is too short', async (text) => {
  expect(await piped(text)).toBe(2)
  expect([out, err]).toEqual(['', 'trunkline: A password has at least 8 characters.\n'])
})
