import { describe, expect, it } from 'vitest'
import { TurnsRig } from './turns-rig.ts'

describe('end of a turn', () => {
  it('is decided by the silence after a text without a sign of its end', () => {
    const rig = new TurnsRig()
    rig.says('book a table')
    expect(rig.turns.state).toBe('caller')
    rig.wait(699)
    expect(rig.commits).toEqual([])
    rig.wait(1)
    expect(rig.commits).toMatchObject([{ text: 'book a table', by: 'speech', merged: 0, endedBy: 'silence' }])
    expect(rig.commits[0]!.endedAt! - rig.commits[0]!.startedAt!).toBe(1000)
    expect(rig.turns.state).toBe('thinking')
  })

  it('counts from the last voiced frame, which the detector reports later', () => {
    const rig = new TurnsRig()
    rig.turns.voice(true)
    rig.wait(1000)
    rig.turns.voice(false, 200)
    rig.final('book a table').wait(500)
    expect(rig.commits.length).toBe(1)
  })

  it('comes early after a sentence or a question', () => {
    const rig = new TurnsRig()
    rig.says('Do you open on Sunday?').wait(250)
    expect(rig.commits).toMatchObject([{ endedBy: 'meaning' }])
  })

  it('has the plain silence if no source of meaning may decide', () => {
    const rig = new TurnsRig({ isSemantic: false })
    rig.says('Do you open on Sunday?').wait(699)
    expect(rig.commits).toEqual([])
    rig.wait(1)
    expect(rig.commits.length).toBe(1)
  })

  it('waits longer after words that ask for more', () => {
    const rig = new TurnsRig()
    rig.says('My number is').wait(1400)
    expect(rig.commits).toEqual([])
    rig.says('none of your business').wait(700)
    expect(rig.commits[0]!.text).toBe('My number is none of your business')
  })

  it('does not come in pauses of two seconds of a dictation', () => {
    const rig = new TurnsRig()
    rig.says('my number is 0171').wait(2000)
    rig.says('5 5 5').wait(2000)
    rig.says('1 2').wait(2000)
    expect(rig.commits).toEqual([])
    expect(rig.effects.filter((effect) => effect === 'filler: dictation').length).toBe(3)
    rig.wait(300)
    expect(rig.commits[0]!.text).toBe('my number is 0171 5 5 5 1 2')
  })

  it('waits for a final recognition, but not for ever', () => {
    const rig = new TurnsRig()
    rig.sound(500).partial('I want').wait(1399)
    expect(rig.commits).toEqual([])
    rig.wait(1)
    expect(rig.commits[0]!.text).toBe('I want')
    rig.final('I want')
    rig.final('to go')
    expect(rig.news).toEqual(['commit: I want', 'cut: transparent to go'])
    rig.wait(2000)
    expect(rig.commits[1]).toMatchObject({ text: 'I want to go', merged: 1 })
  })

  it('does not need detected voice', () => {
    const rig = new TurnsRig()
    rig.partial('book').wait(300).final('book a table').wait(699)
    expect(rig.commits).toEqual([])
    rig.wait(1)
    expect(rig.commits.length).toBe(1)
  })

  it('waits longer after an unsure recognition', () => {
    const rig = new TurnsRig({ confidence: 0.6 })
    rig.sound(500).final('Do you open today?', { confidence: 0.3 }).wait(1399)
    expect(rig.commits).toEqual([])
    rig.wait(1)
    expect(rig.commits[0]!.confidence).toBe(0.3)
  })

  it('comes at the longest duration, and in spite of noise', () => {
    const rig = new TurnsRig({ maxSpeechMs: 10_000 })
    rig.turns.voice(true)
    for (let i = 0; i < 9; i++) rig.wait(1000).final('and')
    rig.wait(1000)
    expect(rig.commits).toMatchObject([{ endedBy: 'limit' }])
    const noisy = new TurnsRig()
    noisy.turns.voice(true)
    noisy.wait(1000).final('help me please').wait(4000)
    expect(noisy.commits.length).toBe(1)
  })

  it('is not waited for if voice brings no words', () => {
    const rig = new TurnsRig()
    rig.sound(200)
    expect(rig.turns.state).toBe('caller')
    rig.wait(800)
    expect(rig.turns.state).toBe('listening')
    rig.final('late words').wait(700)
    expect(rig.commits.length).toBe(1)
  })

  it('is left to a recogniser that has a model of turns', () => {
    const rig = new TurnsRig()
    rig.turns.engineTurn('began')
    rig.says('book a table').wait(1500)
    rig.turns.engineTurn('eager')
    rig.turns.engineTurn('resumed')
    rig.final('for four').turns.engineTurn('eager')
    rig.turns.engineTurn('ended')
    rig.wait(0)
    expect(rig.effects).toEqual([
      'prepare: book a table',
      'discard',
      'prepare: book a table for four',
      'commit: book a table for four',
    ])
    expect(rig.commits[0]!.endedBy).toBe('engine')
  })

  it('is prepared for, and the answer thrown away if the caller goes on', () => {
    const rig = new TurnsRig()
    rig.says('book a table').wait(250)
    rig.says('for four').wait(700)
    expect(rig.effects).toEqual([
      'prepare: book a table',
      'discard',
      'prepare: book a table for four',
      'commit: book a table for four',
    ])
  })
})

describe('interruption', () => {
  const speaking = (rules = {}, isStreaming = true): TurnsRig => {
    const rig = new TurnsRig(rules)
    if (isStreaming) rig.partial('tell me')
    rig.says('tell me about it').wait(700)
    rig.speaks()
    rig.wait(5000)
    rig.effects.splice(0)
    return rig
  }

  it('by words cuts the answer, and joins the turn before if it is early', () => {
    const late = speaking({ interruptPrompt: 'Apologise.' })
    late.turns.voice(true)
    expect(late.turns.state).toBe('doubting')
    late.wait(300).partial('no wait')
    expect(late.effects).toEqual(['fade', 'barge: no wait', 'cut: normal no wait'])
    late.wait(200)
    late.turns.voice(false)
    late.final('no wait').wait(700)
    expect(late.commits[1]).toMatchObject({ text: 'no wait', merged: 0, instruction: 'Apologise.' })
    const early = new TurnsRig()
    early.says('book a table').wait(700)
    early.speaks()
    early.wait(1000).says('for four people').wait(700)
    expect(early.news).toEqual([
      'commit: book a table',
      'fade',
      'cut: transparent for four people',
      'commit: book a table for four people',
    ])
    expect(early.commits[1]!.merged).toBe(1)
  })

  it.each([150, 400, 690])('does not follow from a sound of %d ms: the agent goes on within 300 ms', (ms) => {
    const rig = speaking()
    rig.sound(ms).wait(240)
    expect(rig.news).toEqual(['fade', 'resume'])
    expect(rig.turns.state).toBe('speaking')
  })

  it.each(['Mm-hm.', 'uh huh', 'Yeah, right', 'ok'])('does not follow from %s', (text) => {
    const rig = speaking()
    rig.turns.voice(true)
    rig.wait(200).partial(text).wait(200)
    rig.turns.voice(false)
    rig.final(text).wait(240)
    expect(rig.news).toEqual(['fade', 'resume'])
    rig.wait(20_000)
    expect(rig.commits.length).toBe(1)
  })

  it('does not follow from noise: the agent goes on after two seconds', () => {
    const rig = speaking()
    rig.turns.voice(true)
    rig.wait(1999)
    expect(rig.news).toEqual(['fade'])
    rig.wait(1)
    expect(rig.news).toEqual(['resume'])
    rig.wait(1000).final('stop it now')
    expect(rig.news).toEqual(['cut: normal stop it now'])
  })

  it('is not missed if the words come after the agent went on', () => {
    const rig = speaking()
    rig.sound(300).wait(700).final('no')
    expect(rig.news).toEqual(['fade', 'resume', 'cut: normal no'])
  })

  it('is awaited longer from a recogniser without partial recognitions', () => {
    const rig = speaking({}, false)
    rig.sound(1500).wait(1000).final('I meant the other one')
    expect(rig.news).toEqual(['fade', 'cut: normal I meant the other one'])
  })

  it('no longer lowers the voice after three sounds without words', () => {
    const rig = speaking()
    for (let i = 0; i < 3; i++) rig.sound(200).wait(300)
    expect(rig.news.filter((effect) => effect === 'fade').length).toBe(3)
    rig.turns.voice(true)
    expect(rig.news).toEqual(['resume'])
    rig.final('please stop that')
    expect(rig.news).toEqual(['cut: normal please stop that'])
  })

  it('follows the rules: words, confidence, pattern, final recognitions', () => {
    const few = speaking({ bargeMinWords: 3 })
    few.partial('please stop').partial('please stop now')
    expect(few.news).toEqual(['cut: normal please stop now'])
    const unsure = speaking({ bargeConfidence: 0.5 })
    unsure.final('please stop', { confidence: 0.4 }).final('now', { confidence: 0.6 })
    expect(unsure.news).toEqual(['cut: normal please stop now'])
    const pattern = speaking({ bargePattern: '^(stop|wait)\\b' })
    pattern.partial('please').partial('Stop it')
    expect(pattern.news).toEqual(['cut: normal Stop it'])
    const complete = speaking({ barge: 'complete' })
    complete.partial('stop it').final('stop it')
    expect(complete.news).toEqual(['cut: normal stop it'])
  })

  it('of a protected answer is not possible: the words are answered afterwards', () => {
    const rig = new TurnsRig()
    const greeting = rig.speaks(false)
    rig.wait(500).says('I have a question about my bill').wait(3000)
    rig.turns.key('1')
    expect(rig.news).toEqual([])
    rig.heardAll(greeting).wait(3000)
    expect(rig.news).toEqual(['commit: I have a question about my bill 1'])
  })

  it('is not possible if the rules forbid it', () => {
    const rig = speaking({ barge: 'none' })
    rig.says('stop it').wait(1000)
    expect(rig.news).toEqual([])
    rig.heardAll('a1').wait(0)
    expect(rig.news).toEqual(['commit: stop it'])
  })

  it('spares functions if the rules say so', () => {
    const rig = new TurnsRig({ bargeFunctions: false })
    rig.says('the weather please').wait(700)
    rig.turns.functionBegan('f1')
    rig.wait(100).says('and quickly if you can').wait(1000)
    expect(rig.news).toEqual(['commit: the weather please'])
    rig.turns.functionEnded('f1')
    expect(rig.turns.state).toBe('thinking')
  })

  it('while the model thinks joins the turn before', () => {
    const rig = new TurnsRig()
    rig.says('I want a table').wait(700)
    rig.says('for four').wait(700)
    expect(rig.news).toEqual([
      'commit: I want a table',
      'fade',
      'cut: transparent for four',
      'commit: I want a table for four',
    ])
  })

  it('by a key cuts the answer', () => {
    const rig = speaking()
    rig.turns.key('5')
    expect(rig.news).toEqual(['cut: normal 5'])
    rig.wait(3000)
    expect(rig.commits[1]).toMatchObject({ text: '5', by: 'keys' })
  })

  it('takes an acknowledgement at the end of the question as its answer', () => {
    const rig = speaking()
    rig.turns.voice(true)
    rig.wait(300).final('yes')
    rig.turns.voice(false)
    rig.wait(240).heardAll('a1').wait(250)
    expect(rig.news).toEqual(['fade', 'resume', 'commit: yes'])
  })

  it.each([
    [false, ['fade', 'resume']],
    [true, ['fade', 'cut: normal mm-hm', 'commit: mm-hm']],
  ])('by an acknowledgement depends on the rules: %s', (bargeAcknowledgements, effects) => {
    const rig = speaking({ bargeAcknowledgements })
    rig.says('mm-hm', 300).wait(2000)
    expect(rig.news).toEqual(effects)
  })

  it('by an acknowledgement that is not final is awaited if the rules let it interrupt', () => {
    const rig = speaking({ barge: 'complete', bargeAcknowledgements: true })
    rig.turns.voice(true)
    rig.wait(200).partial('mm-hm')
    rig.turns.voice(false)
    rig.wait(1000).final('mm-hm')
    expect(rig.news).toEqual(['fade', 'cut: normal mm-hm'])
  })

  it('by the handler cuts the answer, and keeps the hearing of the engine', () => {
    const rig = new TurnsRig({ engine: { turns: 'its', cut: 'truncate' } })
    rig.speaks()
    rig.turns.drop(false)
    expect(rig.news).toEqual(['cut: given-up '])
    expect(rig.turns.state).toBe('listening')
  })
})
