import { describe, expect, it } from 'vitest'
import { read4475, read5118, rfc4475, rfc5118, tortureNote, torturePresent } from '../testing/torture.ts'
import { checkMessage } from './check.ts'
import { parseDatagram } from './parse.ts'
import { SipParseError } from './sip-parse-error.ts'

const verdictOf = (bytes: Buffer): 'ok' | number => {
  try {
    checkMessage(parseDatagram(bytes))
    return 'ok'
  } catch (error) {
    if (error instanceof SipParseError) return error.status
    throw error
  }
}

describe.skipIf(!torturePresent)(`RFC 4475${tortureNote}`, () => {
  it.each(rfc4475)('parses %s as expected (%s)', (_section, file, parser) => {
    expect(verdictOf(read4475(file))).toBe(parser)
  })
})

describe.skipIf(!torturePresent)(`RFC 5118${tortureNote}`, () => {
  it.each(rfc5118)('parses %s as expected (%s)', (_section, file, parser) => {
    expect(verdictOf(read5118(file))).toBe(parser)
  })
})
