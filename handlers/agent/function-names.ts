/** Name of the function by which the model goes to another step. */
export const nextStep = 'next_step'
/** Name of the function by which the model goes to another context. */
export const changeContext = 'change_context'
/** Name of the function by which the model gives an answer to a question of a step. */
export const gatherSubmit = 'gather_submit'

/** Functions by which the model moves on: their results contain instructions of the document. */
export const moveFunctions: ReadonlySet<string> = new Set([nextStep, changeContext, gatherSubmit])

/** Functions of the gateway that a document's own function cannot replace. */
export const reservedFunctions: ReadonlySet<string> = new Set([...moveFunctions, 'get_ideal_strategy'])

/** Occasion on which the session calls a function of the document. */
export type Hook = 'start' | 'end' | 'poll' | 'summary'

/** Names of the functions that the session calls, by their occasion. */
export const hooks: Readonly<Record<Hook, readonly string[]>> = {
  start: ['startup_hook', 'start_hook'],
  end: ['hangup_hook', 'stop_hook'],
  poll: ['check_for_input'],
  summary: ['summarize_conversation'],
}

/** Functions that the session calls itself, and that the model does not see. */
export const hookFunctions: ReadonlySet<string> = new Set(Object.values(hooks).flat())
