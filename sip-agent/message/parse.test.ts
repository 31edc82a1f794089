import { describe, expect, it } from 'vitest'
import { inviteText, message } from '../testing/messages.ts'
import { checkMessage } from './check.ts'
import { defaultMessageLimits } from './limits.ts'
import { parseNameAddr } from './name-addr.ts'
import { parseDatagram } from './parse.ts'
import { SipParseError } from './sip-parse-error.ts'
import { parseUri } from './uri.ts'
import { completeVia, parseVia } from './via.ts'

const refused = (text: string): SipParseError => {
  try {
    message(text)
  } catch (error) {
    if (error instanceof SipParseError) return error
    throw error
  }
  throw new Error('was accepted')
}

describe('a message', () => {
  it('has its essential headers parsed', () => {
    const invite = message(inviteText)
    expect(invite).toMatchObject({
      callId: 'a84b4c76e66710@192.0.2.9',
      seq: 314159,
      fromTag: '1928301774',
      vias: 2,
    })
    expect(invite.via).toMatchObject({ transport: 'UDP', host: '192.0.2.9', port: 5061 })
    expect(invite.body.toString()).toBe('v=0\n')
  })
  it('can use compact names, folded lines and spaces before the colon', () => {
    const text = inviteText.replace('From:', 'f  :').replace('Call-ID: ', 'i:\r\n\t')
    expect(message(text)).toMatchObject({ callId: 'a84b4c76e66710@192.0.2.9', fromTag: '1928301774' })
  })
  it('drops headers with escapes in their names, which drachtio-srf would decode', () => {
    const forged = '%50-Asserted-Identity: <sip:+1900@acme.example>\r\n%66: <sip:x@y>\r\nx-a%0d%0ab: c\r\n'
    const { headers } = message(inviteText.replace('From:', `${forged}From:`))
    expect(headers.list().filter(({ name }) => name.includes('%'))).toEqual([])
    expect(headers.count('from')).toBe(1)
  })
  it('can start with empty lines', () => {
    expect(message(`\r\n\r\n${inviteText}`).kind).toBe('request')
  })
  it('has an error that names the malformed header and carries the request', () => {
    const error = refused(inviteText.replace('314159 INVITE', 'many INVITE'))
    expect([error.part, error.status, error.request?.method]).toEqual(['CSeq', 400, 'INVITE'])
  })
  it('cannot add fields to the frames of the application', () => {
    expect(refused(inviteText.replace('a84b4c76e66710@', 'a|b@')).part).toBe('Call-ID')
    expect(refused(inviteText.replace('tag=1928301774', 'tag=1|unsolicited')).part).toBe('From')
  })
  it('is rejected beyond the limits', () => {
    const longLine = inviteText.replace('User-Agent: Example', `User-Agent: ${'x'.repeat(9_000)}`)
    expect(refused(longLine).message).toContain('too long')
    const manyLines = inviteText.replace('User-Agent:', `${'X-A: 1\r\n'.repeat(300)}User-Agent:`)
    expect(refused(manyLines).message).toContain('too many')
    const large = Buffer.alloc(defaultMessageLimits.messageBytes + 1, 'x')
    expect(() => parseDatagram(large)).toThrowError(expect.objectContaining({ status: 413 }))
  })
  it('is read as UTF-8, and other lines as Latin-1', () => {
    const bytes = Buffer.from(
      inviteText.replace('To: Bob', 'To: B\u00f6b').replace('Example 1.0', 'Ex\u00e4mple'),
    )
    expect(checkMessage(parseDatagram(bytes)).to.display).toBe('B\u00f6b')
    const old = Buffer.from(bytes.toString('utf8'), 'latin1')
    expect(checkMessage(parseDatagram(old)).to.display).toBe('B\u00f6b')
    const mixed = Buffer.concat([
      Buffer.from(bytes.toString().split('User-Agent')[0] as string),
      Buffer.from('User-Agent: \u00e4\r\n\r\n', 'latin1'),
    ])
    const headers = parseDatagram(mixed).headers
    expect([headers.first('to'), headers.first('user-agent')]).toEqual([
      'B\u00f6b <sip:bob@example.com>',
      '\u00e4',
    ])
  })
  it('has compact names unknown to drachtio-srf expanded', () => {
    const text = inviteText.replace('Call-ID:', 'x: 300\r\nr: <sip:carol@there.test>\r\nE: gzip\r\nCall-ID:')
    const names = message(text)
      .headers.list()
      .map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['Session-Expires', 'Refer-To', 'Content-Encoding']))
  })
  it('keeps the order of its fields, and the spelling of unusual names', () => {
    const { headers } = parseDatagram(
      Buffer.from('OPTIONS sip:h SIP/2.0\r\nv: 1\r\nX-Own:2\r\ncALL-iD :\t3 \r\nX-Own:\r\n\r\n'),
    )
    expect(headers.list().map(({ name, key, value }) => [name, key, value])).toEqual([
      ['v', 'via', '1'],
      ['X-Own', 'x-own', '2'],
      ['cALL-iD', 'call-id', '3'],
      ['X-Own', 'x-own', ''],
    ])
    expect([headers.count('x-own'), headers.all('x-own')]).toEqual([2, ['2', '']])
  })
  it.each([
    'INVITE  sip:h SIP/2.0',
    'INVITE sip:h  SIP/2.0',
    ' INVITE sip:h SIP/2.0',
    'INVITE sip:h',
    'INVITE sip:h SIP/2.0 ',
    'IN(V sip:h SIP/2.0',
  ])('must not begin with "%s"', (line) => {
    expect(refused(inviteText.replace(/^.*/, line)).part).toBe('start line')
  })
  it.each(['1 INVITE', '  1\t INVITE'])('can have the CSeq "%s"', (cseq) => {
    expect(message(inviteText.replace('314159 INVITE', cseq)).seq).toBe(1)
  })
  it.each(['1INVITE', '1', 'INVITE', '-1 INVITE', '1 INVITE x', '2147483648 INVITE', '1 INV(TE'])(
    'cannot have the CSeq "%s"',
    (cseq) => {
      expect(refused(inviteText.replace('314159 INVITE', cseq)).part).toBe('CSeq')
    },
  )
  it('is rejected with a bare line feed or NUL in a header', () => {
    expect(refused(inviteText.replace('Example 1.0', 'Example\nVia: x')).part).toBe('User-Agent')
    expect(refused(inviteText.replace('Example 1.0', 'Exam\0ple')).part).toBe('User-Agent')
  })
})

describe('a URI', () => {
  it.each([
    ['sip:bob@[2001:db8::1]:5070;transport=tcp', { user: 'bob', host: '2001:db8::1', port: 5070 }],
    ['sips:example.com', { scheme: 'sips', host: 'example.com' }],
    ['sip:*21#@192.0.2.1', { user: '*21#', host: '192.0.2.1' }],
    ['sip:user;par=u%40example.net@example.com', { user: 'user;par=u%40example.net', host: 'example.com' }],
    ['tel:+15551230000', { scheme: 'tel', rest: '+15551230000' }],
    ['SIP:a@h', { scheme: 'sip', user: 'a', host: 'h' }],
    ['sip:a@x_1.y-z.example.', { host: 'x_1.y-z.example.' }],
    ['sip:a@192.0.2.255:0', { host: '192.0.2.255', port: 0 }],
    ['sip:a:secret@h?Subject=x%20y', { user: 'a:secret', headers: 'Subject=x%20y' }],
  ])('%s', (text, parts) => {
    expect(parseUri(text)).toMatchObject(parts)
  })
  it.each([
    'sip:',
    'bob@example.com',
    'sip:bob@300.1.1.1',
    'sip:bob@2001:db8::1',
    'sip:b%4@h',
    'sip:a@h:99999',
    'sip:a@h;x=1;x=2',
    'sip: a@h',
    'sip:@h',
    'sip:a@b@h',
    'sip:a@h-',
    'sip:a@-h.example',
    'sip:a@h..',
    'sip:a@h.1',
    'sip:a@192.0.2',
    'sip:a@192.0.2.04',
    'sip:a@192.0.2.1.5',
    'sip:a@h :5060',
    'sip:a@h: 5060',
    'sip:a@[::1] :5060',
    'sip:a@[::g]',
    'sip:a@h:',
    'sip:a@h;',
    'sip:a@h;=x',
    'sip:a@h;x=%4',
    'sip:a@h?',
    'sip:é@h',
    'sip:a%4é@h',
    'tel:',
    'tel:+1 2',
    'x_y:z',
  ])('%s is refused', (text) => {
    expect(() => parseUri(text)).toThrow(SipParseError)
  })
})

describe('an address', () => {
  it('can have commas and brackets in its quoted name', () => {
    const address = parseNameAddr('"Bell, <A>" <sip:a@h;lr>;tag=1;q=0.5', 'From')
    expect([address.uri, address.params.get('tag')]).toEqual(['sip:a@h;lr', '1'])
  })
  it('without brackets leaves its parameters to the header', () => {
    const address = parseNameAddr('sip:a@h;tag=9', 'From')
    expect([address.uri, address.params.get('tag')]).toEqual(['sip:a@h', '9'])
  })
  it('is one value only', () => {
    expect(() => parseNameAddr('<sip:a@h>, <sip:b@h>', 'From')).toThrow(SipParseError)
  })
})

describe('the top Via', () => {
  const complete = (value: string) => completeVia(value, parseVia(value), '198.51.100.7', 40_000)
  it('gets received and rport, replacing those of the sender', () => {
    expect(complete('SIP/2.0/UDP 10.0.0.1;rport;branch=z9hG4bK1')).toBe(
      'SIP/2.0/UDP 10.0.0.1;branch=z9hG4bK1;received=198.51.100.7;rport=40000',
    )
    expect(complete('SIP/2.0/UDP h.example;received=1.2.3.4;branch=z9hG4bK1')).not.toContain('1.2.3.4')
  })
})
