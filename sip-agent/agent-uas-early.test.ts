import type { SrfRequest, SrfResponse } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SipResponse } from './message/message.ts'
import { Peer, testSdp } from './testing/peer.ts'
import { idle, routed, startTestAgent, type TestAgent } from './testing/srf.ts'

let bench: TestAgent
let peer: Peer
const begin = async (options: Parameters<typeof startTestAgent>[0] = {}) => {
  bench = await startTestAgent(options)
  peer = await Peer.udp(bench.udp)
}
beforeEach(() => begin())
afterEach(async () => {
  peer.close()
  await bench.close()
})

const target = () => `sip:bob@127.0.0.1:${bench.udp}`
const rel = { headers: { Require: '100rel' } }
type Emitter = NodeJS.EventEmitter

/** The next INVITE that the application gets, with its response. */
const invited = async () => {
  const came = new Promise<[SrfRequest, SrfResponse]>((resolve) => {
    bench.srf.invite((req, res) => resolve([req, res]))
  })
  await routed(bench.srf)
  return { came }
}

/** Calls with a `Supported: 100rel`, or these headers. */
const calling = async (extra: Record<string, string> = { Supported: '100rel' }) => {
  const { came } = await invited()
  const call = peer.call(target())
  const branch = peer.send('INVITE', call, { body: testSdp(), extra })
  const [req, res] = await came
  return { call, branch, req, res }
}

/** Acknowledges a reliable provisional. */
const prack = (call: ReturnType<Peer['call']>, response: SipResponse) => {
  const extra = { RAck: `${response.headers.first('rseq')} ${response.seq} INVITE` }
  call.seq++
  peer.send('PRACK', call, { to: response.headers.first('to') ?? '', extra })
}

describe('100rel', () => {
  it('delays the 200 until the PRACK, which the application receives and answers', async () => {
    const { call, req, res } = await calling()
    const pracked = new Promise<string>((resolve) => {
      const received = (prack: SrfRequest) => resolve(prack.get('RAck') as string)
      ;(res.send as (...args: unknown[]) => void)(183, { ...rel, body: testSdp('early') }, () => {}, received)
    })
    const progress = await peer.response(183)
    const answered = bench.srf.createUAS(req, res, { localSdp: testSdp('answer') })
    // The 183 comes again, and no 200.
    await peer.response(183)
    expect(peer.inbox.some((each) => each.kind === 'response' && each.status === 200)).toBe(false)
    prack(call, progress)
    await peer.response(200, 'PRACK')
    expect(await pracked).toBe(`${progress.headers.first('rseq')} 1 INVITE`)
    const ok = await peer.response(200, 'INVITE')
    expect(ok.toTag).toBe(progress.toTag)
    const to = ok.headers.first('to') ?? ''
    peer.send('ACK', { ...call, seq: 1 }, { to })
    ;(await answered).destroy()
    peer.reply(await peer.request('BYE'), 200)
    await idle(bench.agent)
  })

  it('without a PRACK leads to 504, and the application receives a CANCEL', async () => {
    await bench.close()
    peer.close()
    await begin({ timers: { t1: 10, t2: 80, t4: 100 } })
    const { req, res } = await calling()
    const cancelled = new Promise<string | undefined>((resolve) =>
      (req as unknown as Emitter).on('cancel', (cancel?: unknown) =>
        resolve((cancel as { get(name: string): string | undefined }).get('Reason')),
      ),
    )
    res.send(183, rel)
    await peer.response(504)
    expect(await cancelled).toBe('SIP;cause=504')
    await idle(bench.agent)
  })

  it('towards a caller without support is rejected, and the application can continue', async () => {
    const { res } = await calling({})
    const refused = new Promise<string>((resolve) => {
      res.send(183, 'Progress', rel, (error: unknown) => resolve(String(error)))
    })
    expect(await refused).toContain('Remote endpoint does not support 100rel')
    res.send(486)
    await peer.response(486)
  })

  it('required by the caller makes every provisional response reliable', async () => {
    const { call, res } = await calling({ Require: '100rel' })
    res.send(180)
    const ringing = await peer.response(180)
    expect(ringing.headers.first('require')).toBe('100rel')
    prack(call, ringing)
    await peer.response(200, 'PRACK')
    res.send(486)
    await peer.response(486)
  })
})

it('100rel works through a B2BUA, with a PRACK on each side', async () => {
  const { came } = await invited()
  const far = await Peer.udp(bench.udp)
  const call = peer.call(target())
  peer.send('INVITE', call, { body: testSdp(), extra: { Supported: '100rel' } })
  const [req, res] = await came
  const options = { proxyRequestHeaders: ['supported'], proxyResponseHeaders: ['require'] }
  const bridged = bench.srf.createB2BUA(req, res, far.uri, options)
  const invite = await far.request('INVITE')
  expect(invite.headers.first('supported')).toBe('100rel')
  far.reply(invite, 183, { body: testSdp('early'), extra: { Require: '100rel', RSeq: '5' } })
  const progress = await peer.response(183)
  expect(progress.headers.first('rseq')).not.toBe('5')
  const farPrack = await far.request('PRACK')
  expect(farPrack.headers.first('rack')).toBe(`5 ${invite.seq} INVITE`)
  far.reply(farPrack, 200)
  far.reply(invite, 200, { body: testSdp('answer') })
  prack(call, progress)
  await peer.response(200, 'PRACK')
  const to = (await peer.response(200, 'INVITE')).headers.first('to') ?? ''
  peer.send('ACK', { ...call, seq: 1 }, { to })
  await far.request('ACK')
  const { uas, uac } = await bridged
  uas.destroy()
  uac.destroy()
  peer.reply(await peer.request('BYE'), 200)
  far.reply(await far.request('BYE'), 200)
  await idle(bench.agent)
  far.close()
})

describe('before the answer', () => {
  it('an UPDATE is delivered with its INVITE, and gets the response of the application', async () => {
    const { call, req, res } = await calling()
    const changed = new Promise<string>((resolve) => {
      ;(req as unknown as Emitter).on('update', (update: SrfRequest, answer: SrfResponse) => {
        answer.send(200, { body: testSdp('changed') })
        resolve(update.body as string)
      })
    })
    res.send(183, { body: testSdp('early') })
    const to = (await peer.response(183)).headers.first('to') ?? ''
    call.seq++
    peer.send('UPDATE', call, { to, body: testSdp('moved') })
    const ok = await peer.response(200, 'UPDATE')
    expect(ok.headers.first('content-type')).toBe('application/sdp')
    expect(ok.body.toString()).toContain('s=changed')
    expect(await changed).toContain('s=moved')
    res.send(486)
    await peer.response(486)
  })

  it.each(['info', 'message', 'options', 'notify'] as const)(
    '%s goes to the application as well',
    async (method) => {
      const { call, res } = await calling()
      bench.srf.use(method, (_req, answer) => answer.send(202))
      await routed(bench.srf)
      res.send(180)
      const to = (await peer.response(180)).headers.first('to') ?? ''
      call.seq++
      peer.send(method.toUpperCase(), call, { to })
      await peer.response(202, method.toUpperCase())
      res.send(486)
      await peer.response(486)
    },
  )
})

it('a multipart body is delivered unchanged', async () => {
  const { came } = await invited()
  const body = `--x\r\nContent-Type: application/sdp\r\n\r\n${testSdp()}\r\n--x\r\nContent-Type: text/plain\r\n\r\nhello\r\n--x--\r\n`
  peer.send('INVITE', peer.call(target()), {
    body,
    extra: { 'Content-Type': 'multipart/mixed;boundary=x' },
  })
  const [req, res] = await came
  expect(req.body).toBe(body)
  res.send(488)
  await peer.response(488)
})

it('an answer whose connection has closed uses a new one to the port of the Via', async () => {
  const { came } = await invited()
  const server = await Peer.tcpServer()
  const client = await Peer.tcp(bench.tcp)
  const via = `SIP/2.0/TCP 127.0.0.1:${server.port};branch=z9hG4bKgone`
  const call = client.call(`sip:bob@127.0.0.1:${bench.tcp};transport=tcp`)
  client.send('INVITE', call, { body: testSdp(), extra: { Via: via, Contact: `<${server.uri}>` } })
  const [req, res] = await came
  client.close()
  while ((await bench.agent.stats()).connections > 0) {}
  const answered = bench.srf.createUAS(req, res, { localSdp: testSdp('answer') })
  const ok = await server.response(200)
  server.send('ACK', { ...call, seq: 1 }, { to: ok.headers.first('to') ?? '' })
  ;(await answered).destroy()
  server.reply(await server.request('BYE'), 200)
  await idle(bench.agent)
  server.close()
})
