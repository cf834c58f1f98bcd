# One line per target: kilochain_add_target(file-name-in-targets Type)
kilochain_add_target(gaussian Gaussian)
kilochain_add_target(logistic_regression LogisticRegression)
kilochain_add_target(funnel Funnel)
