import { createHash } from 'node:crypto'
import type { FunctionDefinition, Json } from './document-types.ts'
import { isObject } from './values.ts'

/** Arguments of a function call. */
export interface FunctionArguments {
  /** Arguments as an object; empty if they are faulty. */
  readonly parsed: Json
  /** Arguments as the model wrote them. */
  readonly raw: string
  /** Whether the model wrote anything but a JSON object. */
  readonly isFaulty: boolean
}

/** Reads the arguments that a model wrote. An empty text counts as an empty object. Never throws. */
export const readArguments = (raw: string): FunctionArguments => {
  if (raw.trim() === '') return { parsed: {}, raw, isFaulty: false }
  const value = parse(raw)
  // Some models encode their JSON twice.
  const parsed = typeof value === 'string' ? parse(value) : value
  return isObject(parsed) ? { parsed, raw, isFaulty: false } : { parsed: {}, raw, isFaulty: true }
}

/** Returns arguments that come from the gateway itself. */
export const argumentsFor = (args: Json): FunctionArguments => ({
  parsed: args,
  raw: JSON.stringify(args),
  isFaulty: false,
})

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Facts of the conversation that a function's request carries. */
export interface FunctionRequestFacts {
  readonly callId: string
  readonly sessionId: string
  readonly projectId: string
  /** Default {@link projectId}. */
  readonly spaceId?: string
  readonly conversationId?: string
  /** Default `voice`. */
  readonly conversationType?: 'voice' | 'chat'
  readonly appName: string
  readonly callerName: string
  readonly callerNumber: string
  /** Whether the call is in progress; default true. */
  readonly isActive?: boolean
  readonly globalData?: Json
  /** Present meta data of the function's token. */
  readonly metaData: Json
  /** Variables and call of the script, if the document wants them. */
  readonly scriptVariables?: Json
  readonly scriptCall?: Json
  /** Logs of the conversation, if the document wants them. */
  readonly callLog?: readonly unknown[]
  readonly rawCallLog?: readonly unknown[]
  /** Error that ended the conversation, in words. */
  readonly fatalError?: string
  /** Form of the request; `bedrock` is that of `amazon_bedrock`. Default `swaig`. */
  readonly form?: 'swaig' | 'bedrock'
}

/** Parts of the body that are present only if they are known. */
const optionalParts = (facts: FunctionRequestFacts): Json => ({
  ...(facts.conversationId !== undefined && { conversation_id: facts.conversationId }),
  ...(facts.globalData && { global_data: facts.globalData }),
  ...(facts.scriptVariables && { SWMLVars: facts.scriptVariables }),
  ...(facts.scriptCall && { SWMLCall: facts.scriptCall }),
  ...(facts.callLog && { call_log: facts.callLog }),
  ...(facts.rawCallLog && { raw_call_log: facts.rawCallLog }),
  ...(facts.fatalError !== undefined && { fatal_error: true, error_reason: facts.fatalError }),
})

/** Parts that differ between the forms of a request. */
const formParts = ({ name, metaDataToken }: FunctionDefinition, facts: FunctionRequestFacts): Json =>
  facts.form === 'bedrock'
    ? {
        caller_id: facts.callerNumber,
        ai_session_id: facts.callId,
        meta_data_token: createHash('md5').update(name).digest('hex'),
        content_type: 'text/json',
        content_disposition: 'agent.function',
      }
    : {
        ai_session_id: facts.sessionId,
        meta_data_token: metaDataToken,
        content_type: 'text/swaig',
        content_disposition: 'SWAIG Function',
      }

/** Returns the body of a request that runs a function on a customer's server. */
export const functionRequest = (
  definition: FunctionDefinition,
  { parsed, raw }: FunctionArguments,
  facts: FunctionRequestFacts,
): Json => {
  const isActive = facts.isActive ?? true
  return {
    function: definition.name,
    description: definition.description,
    argument: { parsed: [parsed], raw },
    argument_desc: definition.parameters,
    call_id: facts.callId,
    conversation_type: facts.conversationType ?? 'voice',
    app_name: facts.appName,
    caller_id_name: facts.callerName,
    caller_id_num: facts.callerNumber,
    channel_active: isActive,
    channel_offhook: isActive,
    channel_ready: isActive,
    meta_data: facts.metaData,
    ...optionalParts(facts),
    ...formParts(definition, facts),
    project_id: facts.projectId,
    space_id: facts.spaceId ?? facts.projectId,
    version: '2.0',
  }
}
