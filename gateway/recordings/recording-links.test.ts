import { describe, expect, it } from 'vitest'
import { linkBase, RecordingLinks } from './recording-links.ts'

const links = new RecordingLinks(new Uint8Array(32).fill(1))
const until = 1_700_000_000_000

describe('a link', () => {
  it('works until its time is over, for its recording alone', () => {
    const proof = links.sign('r1', until)
    expect(proof.expires).toBe(1_700_000_000)
    expect(links.check('r1', proof, until - 1)).toBe('good')
    expect(links.check('r1', proof, until)).toBe('expired')
    expect(links.check('r2', proof, 0)).toBe('forged')
  })

  it('cannot be made to last longer, nor be made with another key', () => {
    const proof = links.sign('r1', until)
    expect(links.check('r1', { ...proof, expires: proof.expires + 1 }, 0)).toBe('forged')
    const other = new RecordingLinks(new Uint8Array(32).fill(2))
    expect(links.check('r1', other.sign('r1', until), 0)).toBe('forged')
  })

  it.each(['', 'x', `${'A'.repeat(43)}`, `${'A'.repeat(100)}`, 'ü'.repeat(43)])('is not %j', (signature) => {
    expect(links.check('r1', { expires: 1_700_000_000, signature }, 0)).toBe('forged')
  })
})

it('starts at the host that clients use, else at a listener', () => {
  expect(linkBase('gw.example:8443', 'http://localhost:8080/')).toBe('https://gw.example:8443')
  expect(linkBase(undefined, 'http://localhost:8080/')).toBe('http://localhost:8080')
})
