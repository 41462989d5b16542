import frameworks from './frameworks.cjs';

export const { Context, agentsTool, aiTool, inputFilter, languageModel, wrap } = frameworks;
