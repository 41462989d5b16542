import weir from './index.cjs';

export const {
    Engine, Projected, RecallTool, Session, Store, WeirError, condense, count, defaultEngine,
    inspect, project, recall, recallTool, version,
} = weir;
export default weir;
