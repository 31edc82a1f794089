import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { configFile, DrachtioServer, namedServer } from './drachtio-server.ts'

it('DRACHTIO_SERVER can name a running server by host and port', () => {
  expect(namedServer({})).toBeUndefined()
  expect(namedServer({ DRACHTIO_SERVER: ' ' })).toBeUndefined()
  expect(namedServer({ DRACHTIO_SERVER: 'sip.test:9022' })).toEqual({
    kind: 'running',
    host: 'sip.test',
    port: 9022,
    secret: 'cymru',
  })
  expect(namedServer({ DRACHTIO_SERVER: '[::1]:9022', DRACHTIO_SECRET: 'x' })).toMatchObject({
    host: '::1',
    secret: 'x',
  })
})

it.each(['sip.test', 'sip.test:0', 'sip.test:70000', '/nowhere/drachtio'])(
  'an invalid DRACHTIO_SERVER (%s) throws',
  (text) => {
    expect(() => namedServer({ DRACHTIO_SERVER: text })).toThrow('DRACHTIO_SERVER')
  },
)

it('the configuration file of a drachtio-server has the ports and the secret', () => {
  const text = configFile({ admin: 9022, sip: 5060 }, 'secret-1')
  expect(text).toContain('<admin port="9022" secret="secret-1">127.0.0.1</admin>')
  expect(text).toContain('sip:127.0.0.1:5060;transport=udp,tcp')
})

/** A program in place of the binary. */
const program = (text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'binary-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  // Without its own package.json, a folder above could make the script a module.
  writeFileSync(join(folder, 'package.json'), '{}')
  const path = join(folder, 'drachtio')
  writeFileSync(path, `#!${process.execPath}\n${text}`)
  chmodSync(path, 0o755)
  return path
}

it('a drachtio binary is started with its configuration, and stopped', async () => {
  const path = program(`
    const { readFileSync } = require('node:fs')
    const [, , flag, file] = process.argv
    const [, port] = /<admin port="(\\d+)"/.exec(readFileSync(file, 'utf8'))
    if (flag === '-f') require('node:net').createServer().listen(Number(port), '127.0.0.1')`)
  const server = await DrachtioServer.start({ kind: 'binary', path })
  expect(server).toMatchObject({ host: '127.0.0.1', secret: 'scenarios' })
  await server.stop()
  await server.stop()
})

it('the error about a drachtio binary that does not start has its output', async () => {
  const path = program('console.error("no such port"); process.exit(3)')
  await expect(DrachtioServer.start({ kind: 'binary', path })).rejects.toThrow(
    /ended with 3[\s\S]*no such port/,
  )
})
