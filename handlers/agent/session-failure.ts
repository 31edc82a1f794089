import type { FunctionReply } from './document-types.ts'

/**
 * Returns the reply of a function that failed. The model has a text for the caller, the log has the reason.
 */
export const failedReply = (reason: string): FunctionReply => ({
  response: 'The function failed. Tell the caller that this is not possible now.',
  effects: [],
  postProcess: false,
  warnings: [{ path: '', message: reason }],
})
