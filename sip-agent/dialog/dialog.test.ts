import { describe, expect, it } from 'vitest'
import { message, RecordingFlow, request } from '../testing/messages.ts'
import { Dialog, type DialogOptions } from './dialog.ts'
import { Dialogs } from './dialogs.ts'

const start = (changes: Partial<DialogOptions> = {}): DialogOptions => ({
  id: 'c1;from-tag=f',
  callId: 'c1',
  localTag: 'ours',
  remoteTag: 'f',
  localAddress: '<sip:us@h>;tag=ours',
  remoteAddress: '<sip:a@b>;tag=f',
  routeSet: [],
  localSeq: 1,
  remoteSeq: 1,
  localContact: '<sip:us@192.0.2.1>',
  flow: new RecordingFlow(),
  target: 'sip:a@198.51.100.1',
  owner: undefined,
  ...changes,
})
const reinvite = (contact: string) =>
  message(
    'INVITE sip:us@192.0.2.1 SIP/2.0\r\nVia: SIP/2.0/UDP h.example;branch=z9hG4bK9\r\nFrom: <sip:a@b>;tag=f\r\n' +
      `To: <sip:us@h>;tag=ours\r\nCall-ID: c1\r\nCSeq: 2 INVITE\r\nContact: ${contact}\r\nContent-Length: 0\r\n\r\n`,
  )

describe('a dialog', () => {
  it('without a route set sends to the target, by the way of the peer’s request', () => {
    const dialog = new Dialog(start())
    expect(dialog.addressing()).toEqual({
      uri: 'sip:a@198.51.100.1',
      routes: [],
      nextHop: 'sip:a@198.51.100.1',
    })
    expect(dialog.routeSet).toEqual([])
    expect(dialog.flow.remote).toEqual({ protocol: 'udp', address: '192.0.2.9', port: 5060 })
  })
  it('with loose routers keeps the target as request-URI', () => {
    const dialog = new Dialog(start({ routeSet: ['<sip:p1;lr>', '<sip:p2.example.com;lr>'] }))
    expect(dialog.addressing()).toEqual({
      uri: 'sip:a@198.51.100.1',
      routes: ['<sip:p1;lr>', '<sip:p2.example.com;lr>'],
      nextHop: 'sip:p1;lr',
    })
    expect(dialog.routeSet).toHaveLength(2)
  })
  it('with a strict router first puts the router into the request-URI and the target last (RFC 3261 12.2.1.1)', () => {
    const dialog = new Dialog(start({ routeSet: ['<sip:strict.example.com>', '<sip:p2.example.com;lr>'] }))
    expect(dialog.addressing()).toEqual({
      uri: 'sip:strict.example.com',
      routes: ['<sip:p2.example.com;lr>', '<sip:a@198.51.100.1>'],
      nextHop: 'sip:strict.example.com',
    })
  })
  it('uses the target and the way of a re-INVITE', () => {
    const dialog = new Dialog(start())
    const moved = new RecordingFlow()
    const invite = reinvite('<sip:a@203.0.113.5:5070>')
    dialog.refresh(invite, moved)
    expect(dialog.target).toBe('sip:a@203.0.113.5:5070')
    expect(dialog.flow).toBe(moved)
  })
  it('increases its own CSeq, and accepts no lower CSeq of the peer', () => {
    const dialog = new Dialog(start())
    expect([dialog.nextSeq(), dialog.nextSeq()]).toEqual([2, 3])
    expect([dialog.acceptSeq(5), dialog.acceptSeq(5), dialog.acceptSeq(4)]).toEqual([true, true, false])
  })
  it('repeats a kept ACK only for its own INVITE, until it is forgotten', () => {
    const flow = new RecordingFlow()
    const dialog = new Dialog(start({ flow }))
    dialog.keepAck(7, Buffer.from('ACK 7'), flow)
    expect([dialog.repeatAck(7), dialog.repeatAck(8)]).toEqual([true, false])
    dialog.forgetAck(8)
    dialog.forgetAck(7)
    expect(dialog.repeatAck(7)).toBe(false)
    expect(flow.sent).toEqual(['ACK 7'])
  })
})

describe('the dialogs', () => {
  it('are found by both tags and by their id, until removed', () => {
    const dialogs = new Dialogs()
    const dialog = new Dialog(start())
    dialogs.add(dialog)
    const bye = { ...request('BYE', 'z9hG4bK1'), toTag: 'ours' }
    expect([dialogs.find(bye), dialogs.byId(dialog.id)]).toEqual([dialog, dialog])
    expect(dialogs.find({ ...bye, fromTag: 'other' })).toBeUndefined()
    dialogs.remove(dialog)
    expect([dialogs.find(bye), dialogs.byId(dialog.id), dialogs.size]).toEqual([undefined, undefined, 0])
  })
  it('keep the id with the confirmed dialog when another fork appears', () => {
    const dialogs = new Dialogs()
    const first = new Dialog(start())
    const second = new Dialog(start({ remoteTag: 'g' }))
    dialogs.add(first)
    dialogs.confirm(first)
    dialogs.add(second)
    expect(dialogs.byId(first.id)).toBe(first)
    dialogs.remove(second)
    expect([dialogs.byId(first.id), dialogs.size]).toEqual([first, 1])
  })
})

it('a dialog accepts at most 16 reliable responses without a PRACK, and continues after a PRACK', () => {
  const dialog = new Dialog(start())
  const taken = [...Array(50).keys()].filter((rseq) => dialog.acceptRseq(1, rseq))
  expect([taken.length, dialog.awaitsPrack(15), dialog.awaitsPrack(16)]).toEqual([16, true, false])
  dialog.pracked(0)
  expect([dialog.acceptRseq(1, 16), dialog.acceptRseq(1, 17), dialog.acceptRseq(2, 90)]).toEqual([
    true,
    false,
    true,
  ])
})
