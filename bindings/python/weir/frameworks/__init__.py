"""Adapters for agent frameworks; each imports its framework, so import the one that you have.

    weir.frameworks.langchain       middleware for create_agent() and create_deep_agent()
    weir.frameworks.openai_agents   call_model_input_filter of the OpenAI Agents SDK
    weir.frameworks.pydantic_ai     a history processor
    weir.frameworks.litellm         a callback, for the SDK and the proxy

All of them share weir.Context, which has the engine, the store, the policy and the recall tool.
"""
