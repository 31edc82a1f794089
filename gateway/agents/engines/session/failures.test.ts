import { describe, expect, it } from 'vitest'
import { kindOfClose, kindOfCode, kindOfError, kindOfStatus, publicText } from './failures.ts'

describe('failures of engines', () => {
  it.each([
    [400, 'refused'],
    [401, 'unauthorised'],
    [402, 'limited'],
    [403, 'unauthorised'],
    [404, 'refused'],
    [408, 'timeout'],
    [429, 'limited'],
    [500, 'server'],
    [504, 'timeout'],
  ])('has a kind for status %i: %s', (status, kind) => expect(kindOfStatus(status)).toBe(kind))

  it.each([
    [1000, 'connection'],
    [1006, 'connection'],
    [1008, 'refused'],
    [1009, 'protocol'],
    [1011, 'server'],
    [3000, 'unauthorised'],
    [4000, 'server'],
    [4429, 'limited'],
  ])('has a kind for the close %i: %s', (code, kind) => expect(kindOfClose(code)).toBe(kind))

  it.each([
    ['ECONNREFUSED', 'connection'],
    ['ETIMEDOUT', 'timeout'],
    ['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH', 'protocol'],
  ])('has a kind for the error %s: %s', (code, kind) =>
    expect(kindOfError(Object.assign(new Error('x'), { code }))).toBe(kind),
  )

  it.each([
    ['invalid_api_key', 'unauthorised'],
    ['INVALID_AUTH', 'unauthorised'],
    ['authentication_error', 'unauthorised'],
    ['missing_permissions', 'unauthorised'],
    ['insufficient_quota', 'limited'],
    ['RATE_LIMIT_EXCEEDED', 'limited'],
    ['too_many_concurrent_requests', 'limited'],
    ['system_busy', 'limited'],
    ['input_timeout_exceeded', 'timeout'],
    ['CLIENT_MESSAGE_TIMEOUT', 'timeout'],
    ['session_expired', 'connection'],
    ['server_error invalid_request_error', 'server'],
    ['internal_error', 'server'],
    ['context_length_exceeded', 'refused'],
    ['voice_not_found', 'refused'],
    ['529', 'server'],
    [429, 'limited'],
    ['a_name_of_the_future', 'protocol'],
    [undefined, 'protocol'],
  ])('has a kind for the name %s: %s', (name, kind) => expect(kindOfCode(name, 'protocol')).toBe(kind))

  it('has a kind for a name that is no text', () => {
    expect(kindOfCode({ toString: 1, valueOf: 1 }, 'protocol')).toBe('protocol')
  })

  it('shortens the words of a server, and hides secrets and keys in them', () => {
    const text = `No key\nk1-secret in "sk-abcdefgh12345" ${'x'.repeat(1000)}`
    const shown = publicText(text, ['k1-secret', ''])
    expect(shown.slice(0, 15)).toBe('No key … in … x')
    expect(shown).toHaveLength(200)
    expect(publicText({ text }, [])).toBe('')
  })
})
