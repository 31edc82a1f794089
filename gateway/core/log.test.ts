import { expect, it } from 'vitest'
import { createLog } from './log.ts'

const lines = (write: (log: ReturnType<typeof createLog>) => void): string => {
  let text = ''
  write(
    createLog(
      { level: 'info', pretty: false },
      {
        write: (line) => {
          text += line
        },
      },
    ),
  )
  return text
}

it.each(['password', 'secret', 'token', 'jwt_token', 'authorization', 'cookie', 'key'])(
  'never writes a %s, at the top, one level down, in a child or in an error',
  (name) => {
    const text = lines((log) => {
      log.info({ [name]: 'hush', to: 'sip:x@y' }, 'one')
      log.info({ destination: { [name]: 'hush', to: 'sip:x@y' } }, 'two')
      log.child({ call: 'c-1', [name]: 'hush' }).info('three')
      log.error({ err: Object.assign(new Error('failed'), { [name]: 'hush' }) }, 'four')
    })
    expect(text).not.toContain('hush')
    expect(text.split('\n').filter((line) => line.includes('[redacted]'))).toHaveLength(4)
    expect(text).toContain('sip:x@y')
    expect(text).toContain('c-1')
  },
)

it('writes nothing below its level', () => {
  expect(lines((log) => log.debug('quiet'))).toBe('')
})
