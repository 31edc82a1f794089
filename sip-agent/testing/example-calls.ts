import { type ChildProcess, spawn } from 'node:child_process'
import { expect, onTestFinished } from 'vitest'
import { Peer, testSdp } from './peer.ts'

/** Resolves with the port that the example listens on. */
const portOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const port = /from port (\d+)/.exec(output)?.[1]
      if (port) resolve(Number(port))
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('exit', () => reject(new Error(`the example ended: ${output}`)))
  })

/** Sends INVITEs until one reaches the callee: the application's route may arrive after the first INVITE. */
const invite = async (caller: Peer, callee: Peer, uri: string) => {
  const request = callee.request('INVITE')
  for (;;) {
    const call = caller.call(uri)
    caller.send('INVITE', call, { body: testSdp('offer') })
    const first = await Promise.race([request, caller.response(503)])
    if (first.kind === 'request') return { call, request: first }
    // Without an ACK the 503 would be retransmitted, and taken for the response to the next INVITE.
    caller.send('ACK', call, { to: first.headers.first('to') ?? '', branch: first.via.branch })
  }
}

/** Runs an example file, and places two calls through it: the first is rejected, the second answered. */
export const expectExampleCalls = async (file: string): Promise<void> => {
  const callee = await Peer.udp()
  onTestFinished(() => callee.close())
  const target = `sip:bob@127.0.0.1:${callee.port}`
  const child = spawn(process.execPath, [file, target, '0'], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill())
  const port = await portOf(child)
  const caller = await Peer.udp(port)
  onTestFinished(() => caller.close())
  const uri = `sip:anyone@127.0.0.1:${port}`

  const rejected = await invite(caller, callee, uri)
  callee.reply(rejected.request, 486)
  const busy = await caller.response(486)
  caller.send('ACK', rejected.call, { to: busy.headers.first('to') ?? '', branch: busy.via.branch })
  await callee.request('ACK')

  const { call, request } = await invite(caller, callee, uri)
  expect(request.uri).toBe(target)
  expect(request.body.toString()).toContain('s=offer')
  callee.reply(request, 200, { body: testSdp('answer') })
  const answer = await caller.response(200)
  expect(answer.body.toString()).toContain('s=answer')
  const to = answer.headers.first('to') ?? ''
  caller.send('ACK', call, { to })
  await callee.request('ACK')
  // The application sets its listeners for the end of the call after the answer. Its response to this request
  // shows that it has done so: drachtio-srf would lose a BYE that came before.
  caller.send('INFO', { ...call, seq: 2 }, { to })
  await caller.response(200, 'INFO')
  caller.send('BYE', { ...call, seq: 3 }, { to })
  callee.reply(await callee.request('BYE'), 200)
  await caller.response(200, 'BYE')
}
