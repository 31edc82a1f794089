import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadCertificate } from '../auth/certificate.ts'
import { RtmpConnector, RtmpForbidden, readRtmpUrl } from './rtmp-target.ts'

describe('the URL of a stream', () => {
  it('has a host, an application and a key, which its shown form does not have', () => {
    expect(readRtmpUrl('rtmp://live.example.com/app/key?sig=1')).toEqual({
      host: 'live.example.com',
      port: 1935,
      hasTls: false,
      app: 'app',
      key: 'key?sig=1',
      tcUrl: 'rtmp://live.example.com:1935/app',
      masked: 'rtmp://live.example.com/app/***',
    })
    expect(readRtmpUrl('RTMPS://[::1]:444/a/b/key')).toMatchObject({
      host: '::1',
      port: 444,
      app: 'a/b',
      hasTls: true,
      masked: 'rtmps://[::1]:444/a/***',
    })
    for (const port of [80, 443, 1936])
      expect(readRtmpUrl(`rtmps://c.example:${port}/a/k`)).toMatchObject({ port })
    expect(readRtmpUrl('rtmps://c.example/a/k').port).toBe(443)
  })

  it('has the path, the key and the port as they are written', () => {
    const paths = [
      ['a/k{1}"x', 'a', 'k{1}"x'],
      ['a/../b/c', 'a/../b', 'c'],
      ['a/%7Bk?s=/1&t=a b', 'a', '%7Bk?s=/1&t=a b'],
      ['a//k/', 'a', 'k'],
    ]
    for (const [path, app, key] of paths)
      expect(readRtmpUrl(`rtmp://C.example/${path}`)).toMatchObject({ host: 'c.example', app, key })
    expect(readRtmpUrl('rtmp://c.example:21/a/k')).toMatchObject({
      port: 21,
      masked: 'rtmp://c.example:21/a/***',
    })
    expect(readRtmpUrl('rtmp://[::1]/a/k')).toMatchObject({ host: '::1', port: 1935 })
  })

  it.each([
    'http://c.example/app/key',
    'rtmp://c.example/key',
    'rtmp:///a/b',
    'rtmp:///a/b/c',
    'rtmp://c.example\\a/b/c',
    'rtmp://c.example?/a/b',
    'rtmp://c.example/a?/b',
    'rtmp://c.example:0/a/b',
    'rtmp://me:pw@c.example/a/b',
    'rtmp://:pw@c.example/a/b',
    'rtmp:c.example/a/b',
    'rtmp://c.example/a/b#c',
    'rtmp://c.example:99999/a/b',
    `rtmp://c.example/a/${'b'.repeat(2000)}`,
    'x',
    '',
  ])('is not %s', (text) => {
    expect(() => readRtmpUrl(text)).toThrow(expect.objectContaining({ code: 'bad_room_stream_url' }))
  })
})

describe('the connection to a server', () => {
  const { signal } = new AbortController()

  it('passes the guard, also by the addresses of its name', async () => {
    const resolve = (
      _name: string,
      done: (error: null, found: { address: string; family: number }[]) => void,
    ) => done(null, [{ address: '10.0.0.1', family: 4 }])
    const connector = new RtmpConnector(new AddressGuard([]), resolve)
    for (const host of ['127.0.0.1', '[::1]', 'live.example.com'])
      await expect(connector.target(`rtmp://${host}/a/key`).connect(signal)).rejects.toThrow(RtmpForbidden)
  })

  it('verifies the certificate of a server with TLS', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'rtmps-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true }))
    const quiet = { info: () => {}, warn: () => {} }
    const certificate = await loadCertificate({ hosts: ['localhost'], dataDir }, Date, quiet)
    const server = createTlsServer(certificate, (socket) => socket.end('hello')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    server.on('tlsClientError', () => {})
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const connector = new RtmpConnector(new AddressGuard(['127.0.0.0/8']), (_name, done) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]),
    )
    const target = connector.target(`rtmps://localhost:${port}/a/key`)
    await expect(target.connect(signal)).rejects.toThrow('failed: DEPTH_ZERO_SELF_SIGNED_CERT.')
    const trusted = getCACertificates()
    onTestFinished(() => setDefaultCACertificates(trusted))
    setDefaultCACertificates([...trusted, certificate.cert])
    const socket = await target.connect(signal)
    const [first] = await socket.take(1).toArray()
    expect(String(first)).toBe('hello')
    socket.destroy()
    const other = connector.target(`rtmps://c.example:${port}/a/key`)
    await expect(other.connect(signal)).rejects.toThrow('ERR_TLS_CERT_ALTNAME_INVALID')
  })

  it('is plain, and fails with a code that names no secret', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const connector = new RtmpConnector(new AddressGuard(['127.0.0.0/8']))
    const socket = await connector.target(`rtmp://127.0.0.1:${port}/a/key`).connect(signal)
    const failed = once(socket, 'error')
    socket.emit('timeout')
    expect(await failed).toMatchObject([{ code: 'ETIMEDOUT' }])
    server.close()
    await new Promise((resolve) => server.once('close', resolve))
    await expect(connector.target(`rtmp://127.0.0.1:${port}/a/key`).connect(signal)).rejects.toThrow(
      'The connection to the server failed: ECONNREFUSED.',
    )
  })
})
