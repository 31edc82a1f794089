import { describe, expect, it } from 'vitest'
import { readAgent } from './document.ts'
import { functionRequest, readArguments } from './function-request.ts'
import { infoGatherer } from './testing/documents.ts'

const definition = readAgent(infoGatherer).document?.functions[1]

const facts = {
  callId: 'call-1',
  sessionId: 'session-1',
  projectId: 'project-1',
  appName: 'swml app',
  callerName: 'Ada',
  callerNumber: '+15550001',
  metaData: { k: 'v' },
}

describe('arguments of a function', () => {
  it.each([
    ['{"a":1}', { a: 1 }, false],
    ['', {}, false],
    ['"{\\"a\\":1}"', { a: 1 }, false],
    ['{"a":', {}, true],
    ['[1]', {}, true],
    ['null', {}, true],
  ])('%s are read', (raw, parsed, isFaulty) => {
    expect(readArguments(raw)).toEqual({ parsed, raw, isFaulty })
  })
})

describe('the request of a function', () => {
  if (!definition) throw new Error('the document has no function')

  it('has the fields of the language', () => {
    expect(functionRequest(definition, readArguments('{"answer":"yes"}'), facts)).toEqual({
      function: 'submit_answer',
      description: 'Submit an answer and move to the next question',
      argument: { parsed: [{ answer: 'yes' }], raw: '{"answer":"yes"}' },
      argument_desc: definition.parameters,
      call_id: 'call-1',
      ai_session_id: 'session-1',
      conversation_type: 'voice',
      app_name: 'swml app',
      caller_id_name: 'Ada',
      caller_id_num: '+15550001',
      channel_active: true,
      channel_offhook: true,
      channel_ready: true,
      meta_data: { k: 'v' },
      meta_data_token: definition.metaDataToken,
      project_id: 'project-1',
      space_id: 'project-1',
      content_type: 'text/swaig',
      content_disposition: 'SWAIG Function',
      version: '2.0',
    })
  })

  it('has further fields if the document wants them', () => {
    const more = {
      ...facts,
      spaceId: 'space-1',
      conversationId: 'c',
      globalData: { a: 1 },
      scriptVariables: { x: 1 },
      scriptCall: { call_id: 'call-1' },
      callLog: [{ role: 'user' }],
      rawCallLog: [],
      isActive: false,
      fatalError: 'no engine',
    }
    expect(functionRequest(definition, readArguments(''), more)).toMatchObject({
      conversation_id: 'c',
      global_data: { a: 1 },
      SWMLVars: { x: 1 },
      SWMLCall: { call_id: 'call-1' },
      call_log: [{ role: 'user' }],
      raw_call_log: [],
      channel_active: false,
      fatal_error: true,
      error_reason: 'no engine',
      space_id: 'space-1',
    })
  })

  it('differs for amazon_bedrock', () => {
    expect(functionRequest(definition, readArguments('{}'), { ...facts, form: 'bedrock' })).toMatchObject({
      content_type: 'text/json',
      content_disposition: 'agent.function',
      caller_id: '+15550001',
      ai_session_id: 'call-1',
      meta_data_token: 'a012dc30d7583e53f1181995701686b8',
    })
  })
})
