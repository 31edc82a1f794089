import { partsOf } from '../common/placeholders.ts'
import type { AgentContext, AgentStep, GatherInfo, GatherQuestion, HistoryReset } from './document-types.ts'
import { renderPom } from './pom.ts'
import { type PomFormat, promptText } from './prompt.ts'
import { Section } from './section.ts'
import { isObject, isOfConversation, isPlaceholder, textOf } from './values.ts'

/** Maximum number of contexts of a document. */
const maxContexts = 50

/** Maximum number of steps of a context. */
const maxSteps = 100

/** Maximum number of questions of a step, and of names in a list. */
const maxQuestions = 100
const maxNames = 256

const histories = ['keep', 'default', 'hide'] as const

/**
 * Whether a value is a placeholder, which becomes an object or a list when the script runs. One of the
 * conversation is a fault: it comes too late, and the agent would have no steps.
 */
const isLater = (section: Section, key: string): boolean => {
  const value = section.get(key)
  if (!isPlaceholder(value)) return false
  const isLate = partsOf(String(value)).some(
    (part) => 'expression' in part && isOfConversation(part.expression),
  )
  if (isLate) section.findings.fault(section.at(key), 'must not be a value of the conversation')
  return true
}

const types = ['string', 'integer', 'number', 'boolean'] as const

/** Reads the change of the history on entering a context, a step or another role. */
export const readReset = (section: Section, format: PomFormat): HistoryReset => {
  const part = (name: string): string | undefined => {
    const pom = section.has(`${name}_pom`) ? renderPom(section.list(`${name}_pom`, 200), format) : ''
    return pom || section.text(`${name}_prompt`)
  }
  const systemPrompt = part('system')
  const userPrompt = part('user')
  return {
    ...(systemPrompt && { systemPrompt }),
    ...(userPrompt && { userPrompt }),
    consolidate: section.boolean('consolidate') ?? false,
    fullReset: section.boolean('full_reset') ?? false,
  }
}

/** Reads `functions` of a step: names, or `none` for an empty list. Undefined if absent. */
const readNames = (section: Section, key: string): readonly string[] | undefined => {
  const names = section.texts(key, maxNames)
  return names?.length === 1 && names[0]?.toLowerCase() === 'none' ? [] : names
}

const readQuestion = (section: Section): readonly GatherQuestion[] => {
  const key = section.text('key')
  const question = section.text('question')
  const prompt = section.text('prompt')
  const functions = readNames(section, 'functions')
  if (key === undefined || question === undefined) {
    section.findings.warn(section.path, 'must have a key and a question; it is left out')
    return []
  }
  return [
    {
      key,
      question,
      type: section.choice('type', types) ?? 'string',
      confirm: section.boolean('confirm') ?? false,
      ...(prompt && { prompt }),
      ...(functions && { functions }),
      isIsolated: section.boolean('isolated') ?? false,
    },
  ]
}

const readGather = (section: Section): GatherInfo | undefined => {
  const questions = section.sections('questions', maxQuestions).flatMap(readQuestion)
  const prompt = section.text('prompt')
  const outputKey = section.text('output_key')
  const completionAction = section.text('completion_action')
  if (questions.length === 0) {
    section.findings.warn(section.path, 'must have questions; it is left out')
    return undefined
  }
  return {
    questions,
    ...(prompt && { prompt }),
    ...(outputKey && { outputKey }),
    ...(completionAction && { completionAction }),
    isIsolated: section.boolean('isolated') ?? false,
  }
}

const readStep = (section: Section, index: number, format: PomFormat): AgentStep => {
  const name = section.text('name')
  if (name === undefined) section.warn('name', `must be a text; the step is called step_${index + 1}`)
  if (name === 'next') section.findings.fault(section.at('name'), 'must not be next')
  const criteria = section.text('step_criteria')
  const functions = readNames(section, 'functions')
  const reset = section.section('reset')
  const gatherSection = section.section('gather_info')
  const gather = gatherSection && readGather(gatherSection)
  const step = {
    name: name ?? `step_${index + 1}`,
    text: promptText(section, format),
    ...(criteria && { criteria }),
    ...(functions && { functions }),
    validSteps: section.texts('valid_steps', maxNames) ?? [],
    validContexts: section.texts('valid_contexts', maxNames) ?? [],
    skipUserTurn: section.boolean('skip_user_turn') ?? false,
    skipToNextStep: section.boolean('skip_to_next_step') ?? false,
    end: section.boolean('end') ?? false,
    history: section.choice('history', histories) ?? 'default',
    ...(reset && { reset: readReset(reset, format) }),
    ...(gather && { gather }),
  }
  section.warnUnknown()
  return step
}

const readSteps = (section: Section, format: PomFormat): readonly AgentStep[] => {
  const value = section.get('steps')
  const path = section.at('steps')
  if (isLater(section, 'steps')) return []
  if (!Array.isArray(value) || value.length === 0) section.findings.fault(path, 'must be a list of steps')
  else if (value.length > maxSteps) section.findings.fault(path, `must have at most ${maxSteps} steps`)
  else {
    const names = new Set<string>()
    return section.sections('steps', maxSteps).map((each, index) => {
      const step = readStep(each, index, format)
      if (names.has(step.name))
        section.findings.fault(each.at('name'), 'must not be the name of an earlier step')
      names.add(step.name)
      return step
    })
  }
  return []
}

/** Reads a text, or a prompt object with `text` or `pom`. */
const readText = (section: Section, format: PomFormat): string | undefined => {
  const own = promptText(section, format)
  const value = section.get('prompt')
  if (own) return own
  return isObject(value)
    ? promptText(new Section(value, section.at('prompt'), section.findings), format)
    : textOf(value)
}

const readContext = (section: Section, name: string, format: PomFormat): AgentContext => {
  const text = readText(section, format)
  const postPrompt = section.text('post_prompt')
  const validContexts = section.texts('valid_contexts', maxNames)
  const validSteps = section.texts('valid_steps', maxNames)
  const initialStep = section.text('initial_step')
  const enterFillers = section.phrases('enter_fillers')
  const exitFillers = section.phrases('exit_fillers')
  const context = {
    name,
    steps: readSteps(section, format),
    ...(text && { text }),
    reset: readReset(section, format),
    isIsolated: section.boolean('isolated') ?? false,
    ...(enterFillers && { enterFillers }),
    ...(exitFillers && { exitFillers }),
    ...(postPrompt && { postPrompt }),
    ...(validContexts && { validContexts }),
    ...(validSteps && { validSteps }),
    ...(initialStep && { initialStep }),
    history: section.choice('history', histories) ?? 'default',
  }
  section.warnUnknown()
  return context
}

/** Whether contexts, or one of them, come from a variable of the script. */
export const hasLaterContexts = (prompt: Section): boolean => {
  const value = prompt.get('contexts')
  return isPlaceholder(value) || (isObject(value) && Object.values(value).some(isPlaceholder))
}

/** Warns about names of steps and contexts that lead nowhere. */
const warnAboutTargets = (contexts: ReadonlyMap<string, AgentContext>, section: Section): void => {
  for (const { name, steps, initialStep, validContexts } of contexts.values()) {
    const stepNames = new Set(['next', ...steps.map((step) => step.name)])
    const warn = (target: string): void =>
      section.warn(name, `names ${target.slice(0, 64)}, which does not exist`)
    for (const target of [initialStep ?? 'next', ...steps.flatMap((step) => step.validSteps)])
      if (!stepNames.has(target)) warn(target)
    for (const target of [...(validContexts ?? []), ...steps.flatMap((step) => step.validContexts)])
      if (!section.has(target)) warn(target)
  }
}

/**
 * Reads `contexts` of a prompt. An empty map without them. Placeholders are left out. Faults: no context
 * `default`, too many contexts or steps, no steps, two steps of one name, and values of the conversation.
 */
export const readContexts = (prompt: Section, format: PomFormat): ReadonlyMap<string, AgentContext> => {
  const contexts = new Map<string, AgentContext>()
  const value = prompt.get('contexts')
  const path = prompt.at('contexts')
  if (value === undefined) return contexts
  if (isLater(prompt, 'contexts')) return contexts
  if (!isObject(value)) {
    prompt.findings.fault(path, 'must be an object of contexts')
    return contexts
  }
  const section = new Section(value, path, prompt.findings)
  const names = Object.keys(value)
  if (names.length > maxContexts) prompt.findings.fault(path, `must have at most ${maxContexts} contexts`)
  if (names.length > 0 && !names.includes('default'))
    prompt.findings.fault(path, 'must have a context with the name default')
  for (const name of names.slice(0, maxContexts)) {
    const content = value[name]
    if (isObject(content))
      contexts.set(name, readContext(new Section(content, section.at(name), prompt.findings), name, format))
    else if (!isLater(section, name)) prompt.findings.fault(section.at(name), 'must be an object with steps')
  }
  warnAboutTargets(contexts, section)
  return contexts
}
